/*
 * The shortest decimal of a binary number: Giulietti's Schubfach. A number c × 2^q and the ends of
 * the interval that rounds to it are scaled by a power of ten so that the interval is one to ten
 * units wide; then the shortest decimal in it is one of four integers. The scaling is a product
 * with a power of ten of 128 bits, rounded to odd, which the method proves to be enough.
 */
#include "base/fmt.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

/* ---- powers of ten ---------------------------------------------------------------------------- */

/* What doubles need: 10^-292 scales the largest, 10^324 the smallest. */
#define POWER_LEAST (-292)
#define POWER_MOST 324

/* floor(10^n × 2^(127 - log2)) + 1, where log2 is floor(log2(10^n)). */
struct power {
	uint64_t high, low;
	int log2;
};

static struct power powers[POWER_MOST - POWER_LEAST + 1];

/* An exact integer, least word first: 10^324 needs 1,077 bits; 2^1152 / 10^292 keeps 128 and more. */
#define WORDS 19
struct big {
	uint64_t word[WORDS];
};

static void big_multiply(struct big *big, uint64_t factor)
{
	uint64_t carry = 0;

	for (int i = 0; i < WORDS; i++) {
		uint128 product = (uint128)big->word[i] * factor + carry;

		big->word[i] = (uint64_t)product;
		carry = (uint64_t)(product >> 64);
	}
}

static void big_divide(struct big *big, uint64_t divisor)
{
	uint64_t rest = 0;

	for (int i = WORDS; i-- > 0;) {
		uint128 part = (uint128)rest << 64 | big->word[i];

		big->word[i] = (uint64_t)(part / divisor);
		rest = (uint64_t)(part % divisor);
	}
}

/* The highest 128 bits, plus 1. `scale` is how many of the bits stand behind the binary point. */
static struct power big_power(const struct big *big, int scale)
{
	int top = WORDS - 1, shift;
	uint64_t w[3] = {0};
	uint128 bits;

	while (!big->word[top])
		top--;
	for (int i = 0; i < 3 && top - i >= 0; i++)
		w[i] = big->word[top - i];
	shift = __builtin_clzll(w[0]);
	bits = ((uint128)w[0] << 64 | w[1]) << shift;
	bits |= shift ? w[2] >> (64 - shift) : 0;
	bits++;
	return (struct power){(uint64_t)(bits >> 64), (uint64_t)bits,
			      64 * top + 63 - shift - scale};
}

static void make_powers(void)
{
	struct big big = {.word = {1}};
	int scale = 64 * (WORDS - 1);

	for (int n = 0; n <= POWER_MOST; n++, big_multiply(&big, 10))
		powers[n - POWER_LEAST] = big_power(&big, 0);
	memset(&big, 0, sizeof(big));
	big.word[WORDS - 1] = 1;
	for (int n = 0; n >= POWER_LEAST; n--, big_divide(&big, 10))
		if (n)
			powers[n - POWER_LEAST] = big_power(&big, scale);
}

static struct power power_of_ten(int n)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_powers);
	return powers[n - POWER_LEAST];
}

/* ---- the shortest decimal ---------------------------------------------------------------------- */

struct decimal {
	uint64_t digits;
	int exponent; /* digits × 10^exponent */
};

/* The integer part of power × factor / 2^128, with its lowest bit set if there is a rest. */
static uint64_t round_to_odd(struct power power, uint64_t factor)
{
	uint128 low = (uint128)power.low * factor;
	uint128 sum = (uint128)power.high * factor + (uint64_t)(low >> 64);

	return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

/* c × 2^q, c > 0. `narrow`: the gap below is half the gap above, as at powers of two. */
static struct decimal shortest(uint64_t c, int q, bool narrow)
{
	/* floor(log10(2^q)), or of 3/4 × 2^q: constants for |q| < 1,500. */
	int k = (q * 1262611 - (narrow ? 524031 : 0)) >> 22;
	struct power power = power_of_ten(-k);
	int h = q + power.log2 + 1;
	uint64_t odd = c & 1; /* the ends of the interval read back as c only if c is even */
	uint64_t middle = round_to_odd(power, 4 * c << h);
	uint64_t lower = round_to_odd(power, (4 * c - (narrow ? 1 : 2)) << h) + odd;
	uint64_t upper = round_to_odd(power, (4 * c + 2) << h) - odd;
	uint64_t s = middle / 4, tens = s / 10 * 10;
	bool down = lower <= 4 * tens, up = 4 * (tens + 10) <= upper;

	if (s >= 10 && down != up)
		return (struct decimal){down ? tens : tens + 10, k};
	down = lower <= 4 * s;
	up = 4 * (s + 1) <= upper;
	if (down == up) /* both or none: the closer one, an even one of two equally close */
		down = middle < 4 * s + 2 || (middle == 4 * s + 2 && s % 2 == 0);
	return (struct decimal){down ? s : s + 1, k};
}

/* ---- texts ------------------------------------------------------------------------------------- */

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
			    "25262728293031323334353637383940414243444546474849"
			    "50515253545556575859606162636465666768697071727374"
			    "75767778798081828384858687888990919293949596979899";

size_t tt_fmt_u64(char *buffer, uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits), length;

	for (; number >= 100; number /= 100) {
		at -= 2;
		memcpy(digits + at, pairs + 2 * (number % 100), 2);
	}
	if (number >= 10) {
		at -= 2;
		memcpy(digits + at, pairs + 2 * number, 2);
	} else {
		digits[--at] = (char)('0' + number);
	}
	length = sizeof(digits) - at;
	memcpy(buffer, digits + at, length);
	buffer[length] = '\0';
	return length;
}

size_t tt_fmt_i64(char *buffer, int64_t number)
{
	if (number >= 0)
		return tt_fmt_u64(buffer, (uint64_t)number);
	buffer[0] = '-';
	return 1 + tt_fmt_u64(buffer + 1, -(uint64_t)number);
}

static size_t put(char *buffer, const char *text)
{
	size_t length = strlen(text);

	memcpy(buffer, text, length + 1);
	return length;
}

/* "d.ddde-05": at least two digits in the exponent. */
static size_t put_exponent(char *buffer, const char *digits, int count, int exponent)
{
	char *at = buffer;
	unsigned size = (unsigned)(exponent < 0 ? -exponent : exponent);

	*at++ = digits[0];
	if (count > 1) {
		*at++ = '.';
		memcpy(at, digits + 1, (size_t)count - 1);
		at += count - 1;
	}
	*at++ = 'e';
	*at++ = exponent < 0 ? '-' : '+';
	if (size < 10)
		*at++ = '0';
	return (size_t)(at - buffer) + tt_fmt_u64(at, size);
}

/* `point` digits stand before the decimal point; zero or less: that many zeros behind it. */
static size_t put_fixed(char *buffer, const char *digits, int count, int point)
{
	char *at = buffer;
	int whole = point < count ? point : count;

	if (whole <= 0) {
		at += put(at, "0.");
		for (int i = point; i < 0; i++)
			*at++ = '0';
		whole = 0;
	} else {
		memcpy(at, digits, (size_t)whole);
		at += whole;
		for (int i = whole; i < point; i++)
			*at++ = '0';
		*at++ = '.';
		if (count == whole)
			*at++ = '0';
	}
	memcpy(at, digits + whole, (size_t)(count - whole));
	at += count - whole;
	*at = '\0';
	return (size_t)(at - buffer);
}

static size_t put_decimal(char *buffer, struct decimal decimal)
{
	char digits[TT_FMT_MAX];
	int count = (int)tt_fmt_u64(digits, decimal.digits);
	int point = count + decimal.exponent;

	while (count > 1 && digits[count - 1] == '0')
		count--;
	return point <= -4 || point > 16 ? put_exponent(buffer, digits, count, point - 1)
					 : put_fixed(buffer, digits, count, point);
}

/* A binary format: bits of the mantissa without the leading one, exponent of the least bit. */
static size_t put_binary(char *buffer, uint64_t bits, int mantissa_bits, int least)
{
	uint64_t mantissa = bits & ((UINT64_C(1) << mantissa_bits) - 1);
	int exponent = (int)(bits >> mantissa_bits);

	if (!exponent)
		return put_decimal(buffer, shortest(mantissa, least, false));
	return put_decimal(buffer, shortest(mantissa | UINT64_C(1) << mantissa_bits,
					    least + exponent - 1, !mantissa && exponent > 1));
}

static size_t put_special(char *buffer, double magnitude)
{
	return put(buffer, isnan(magnitude) ? "nan" : isinf(magnitude) ? "inf" : "0.0");
}

size_t tt_fmt_double(char *buffer, double number)
{
	size_t sign = signbit(number) && !isnan(number) ? put(buffer, "-") : 0;
	double magnitude = fabs(number);
	uint64_t bits;

	if (!isfinite(number) || number == 0)
		return sign + put_special(buffer + sign, magnitude);
	memcpy(&bits, &magnitude, sizeof(bits));
	return sign + put_binary(buffer + sign, bits, 52, -1074);
}

size_t tt_fmt_float(char *buffer, float number)
{
	size_t sign = signbit(number) && !isnan(number) ? put(buffer, "-") : 0;
	float magnitude = fabsf(number);
	uint32_t bits;

	if (!isfinite(number) || number == 0)
		return sign + put_special(buffer + sign, magnitude);
	memcpy(&bits, &magnitude, sizeof(bits));
	return sign + put_binary(buffer + sign, bits, 23, -149);
}
