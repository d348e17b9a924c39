"""How Profiler works: doPartial also where nobody profiles, doLine with a zone for every line."""

doPartial = False
doLine = False
