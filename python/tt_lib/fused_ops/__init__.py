"""Operations made of others, as older programs have them."""
