/* digest.c: MD5, SHA-224 and SHA-256, from libcrypto. */
#include "base/digest.h"

#include <openssl/evp.h>
#include <pthread.h>

/* To add a kind: a member of the enumeration and a row. */
static struct {
	const char *name;
	size_t size;
	EVP_MD *method; /* found once: looking for it costs more than a short digest */
} kinds[] = {
	[TT_MD5] = {"MD5", 16, NULL},
	[TT_SHA224] = {"SHA2-224", 28, NULL},
	[TT_SHA256] = {"SHA2-256", 32, NULL},
};

/* They stay as long as the process: libcrypto frees its own at the end. */
static void find_methods(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		kinds[i].method = EVP_MD_fetch(NULL, kinds[i].name, NULL);
}

size_t tt_digest_size(enum tt_digest_kind kind)
{
	return kinds[kind].size;
}

tt_status tt_digest(unsigned char out[TT_DIGEST_MAX], enum tt_digest_kind kind, const void *bytes,
		    size_t length)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_methods);
	if (!kinds[kind].method)
		return tt_fail(TTNN_UNSUPPORTED, "libcrypto of this system does not compute %s",
			       kinds[kind].name);
	if (!EVP_Digest(bytes, length, out, NULL, kinds[kind].method, NULL))
		return tt_fail_nomem();
	return TTNN_OK;
}

tt_status tt_digest_text(char out[TT_DIGEST_TEXT], enum tt_digest_kind kind, const void *bytes,
			 size_t length)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char digest[TT_DIGEST_MAX];
	size_t size = tt_digest_size(kind);

	TT_TRY(tt_digest(digest, kind, bytes, length));
	for (size_t i = 0; i < size; i++) {
		out[2 * i] = digits[digest[i] >> 4];
		out[2 * i + 1] = digits[digest[i] & 15];
	}
	out[2 * size] = '\0';
	return TTNN_OK;
}
