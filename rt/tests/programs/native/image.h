/* The numbers of all three types as integers, and random integers. */
/* A long double as integers; all NaNs are alike. */
struct image {
	unsigned long long mantissa;
	unsigned int exponent;
};

enum { NO_NUMBER = 0x17fff };

static struct image image(long double value)
{
	union { long double value; struct { unsigned long long mantissa; unsigned short exponent; } bits; } is;
	struct image image = { 0, NO_NUMBER };

	is.value = value;
	if (value == value) {
		image.mantissa = is.bits.mantissa;
		image.exponent = is.bits.exponent;
	}
	return image;
}

static unsigned long long draw(unsigned long long *seed)
{
	unsigned long long z = *seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static long double __attribute__((unused)) value_of(struct image is)
{
	union { long double value; struct { unsigned long long mantissa; unsigned short exponent; } bits; } value = { 0 };

	value.bits.mantissa = is.mantissa;
	value.bits.exponent = is.exponent;
	return value.value;
}
