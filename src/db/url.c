/* url.c: URLs of databases, and what must not be in them. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "db/db.h"

static const char *const schemes[] = {"postgresql://", "postgres://"};

/* What follows the scheme; NULL: it is no URL. */
static const char *after_scheme(const char *path)
{
	for (size_t i = 0; path && i < sizeof(schemes) / sizeof(*schemes); i++)
		if (strncasecmp(path, schemes[i], strlen(schemes[i])) == 0)
			return path + strlen(schemes[i]);
	return NULL;
}

bool tt_db_is_url(const char *path)
{
	return after_scheme(path) != NULL;
}

/*
 * The password in the place of USER:PASSWORD@ of the first `most` characters; its length with the colon, 0: there is none.
 * libpq looks for '@' up to the first '/', over '?' and '#': so these may be in a password. One with a '/' in it means
 * another host to libpq; it is a password all the same, which would be told in messages.
 */
static size_t find_password(const char **out, const char *rest, size_t most)
{
	size_t authority = strcspn(rest, "/"), path, at;

	authority = authority < most ? authority : most;
	/* The last '@': one in a password may be written as it is. */
	for (at = authority; at && rest[at - 1] != '@'; at--)
		;
	*out = at ? memchr(rest, ':', at - 1) : memchr(rest, ':', authority);
	if (!*out)
		return 0;
	if (at)
		return at - 1 - (size_t)(*out - rest);
	/* Without '@' before the path what follows the colon is a port. */
	if (strspn(*out + 1, "0123456789,:[]") + 1 >= (size_t)(rest + authority - *out))
		return 0;
	path = authority + strcspn(rest + authority, "?#");
	path = path < most ? path : most;
	for (at = path; at > authority && rest[at - 1] != '@'; at--)
		;
	return at > authority ? at - 1 - (size_t)(*out - rest) : 0;
}

static int hex(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Whether a parameter of a URL has this name: characters of it may be written as %70. */
static bool has_name(const char *at, const char *name)
{
	for (; *name; name++, at++) {
		char c = *at;

		if (c == '%' && hex(at[1]) >= 0 && hex(at[2]) >= 0) {
			c = (char)(hex(at[1]) * 16 + hex(at[2]));
			at += 2;
		}
		if (c != *name)
			return false;
	}
	return *at == '=';
}

/* Parameters that are secrets: of the user, of the key of a certificate, of ways to prove who one is. */
static const char *const secrets[] = {"password", "sslpassword", "oauth_client_secret",
				      "scram_client_key", "scram_server_key"};

static bool is_secret(const char *parameter)
{
	for (size_t i = 0; i < sizeof(secrets) / sizeof(*secrets); i++)
		if (has_name(parameter, secrets[i]))
			return true;
	return false;
}

tt_status tt_db_check_url(const char *path)
{
	const char *rest = after_scheme(path), *password, *query;
	bool found;

	if (!rest)
		return TTNN_OK;
	found = find_password(&password, rest, strlen(rest)) > 0;
	for (query = strchr(rest, '?'); query && !found; query = strchr(query, '&'))
		found = is_secret(++query);
	return found ? tt_fail(TTNN_INVALID,
			       "the URL of the database has a password in it, which others would "
			       "see among the arguments: leave it out and put it into PGPASSWORD, "
			       "or into the file ~/.pgpass or that of PGPASSFILE")
		     : TTNN_OK;
}

static void cover(char *text, size_t length)
{
	memset(text, '*', length);
}

void tt_db_redact(char *text)
{
	const char *secret = getenv("PGPASSWORD"), *password;
	size_t length = secret ? strlen(secret) : 0;

	for (char *at = text; length && (at = strstr(at, secret)); at += length)
		cover(at, length);
	for (char *at = text; (at = strcasestr(at, "password=")); at++)
		cover(at + 9, strcspn(at + 9, " &\"';\n"));
	for (char *at = text; (at = strstr(at, "://")); at++) {
		length = find_password(&password, at + 3, strcspn(at + 3, " \"'\n"));
		if (length > 1)
			cover(at + 3 + (password - (at + 3)) + 1, length - 1);
	}
}
