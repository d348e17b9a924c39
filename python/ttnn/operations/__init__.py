"""Operations that are written in Python: around arrays of other libraries, files and traces."""
