/* tests/fuzz/lines.c -- texts of lines are changed as such, by libFuzzer's hooks.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of a thousand changed bytes one text is still YAML. Here lines move, go and are
 * taken from another text, and of a line that is `key: value` the value alone is
 * changed: by libFuzzer, which has a dictionary of keys, or to one of those that
 * people and machines write by mistake. A first line may be put there that is an
 * argument, `--set KEY.KEY=VALUE` of the text's own keys.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most,
    unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n_a, const uint8_t *b,
    size_t n_b, uint8_t *out, size_t most, unsigned seed);

static const char *const odd[] = {"0", "1", "-1", "2", "0.5", "1e-3", "1e400",
    ".nan", ".inf", "nan", "~", "null", "true", "yes", "010", "0x10", "1%",
    "4294967295", "4294967296", "18446744073709551615", "[]", "{}", "[1, 2]",
    "{uniform: [0, 1]}", "{uniform: [1, 0]}", "\"\"", "\"1\"", "'", "*a", "&a",
    "!!str 1", "|", "-", "1 s", "10us", "{a: b}", "[[1], [2]]"};

static unsigned draw(unsigned *seed, size_t n)
{
	*seed = *seed * 1664525 + 1013904223;
	return n ? (unsigned)((uint64_t)(*seed >> 8) * n >> 24) : 0;
}

/* Put N bytes at FROM in place of CUT bytes at AT, if there is room. */
static size_t splice(uint8_t *data, size_t n, size_t most, size_t at,
    size_t cut, const void *from, size_t n_from)
{
	if (n - cut + n_from > most)
		return n;
	memmove(data + at + n_from, data + at + cut, n - at - cut);
	memcpy(data + at, from, n_from);
	return n - cut + n_from;
}

/* Where a random line begins; *END is behind its end. */
static size_t line_at(const uint8_t *data, size_t n, unsigned *seed,
    size_t *end)
{
	size_t at = draw(seed, n);
	while (at > 0 && data[at - 1] != '\n')
		at--;
	const uint8_t *stop = memchr(data + at, '\n', n - at);
	*end = stop ? (size_t)(stop - data) + 1 : n;
	return at;
}

static int is_word(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
	    c == '.' || c == '-';
}

/* A value of a random line: what is behind ": " or "=" or a comma, up to the next
 * of , ] } or the end of line. */
static size_t value_at(const uint8_t *data, size_t n, unsigned *seed,
    size_t *end)
{
	size_t last, at = line_at(data, n, seed, &last);
	const size_t from = at + draw(seed, last - at);
	for (at = from; at < last && !memchr(":=,\t", data[at], 4);)
		at++;
	at += at < last;
	while (at < last && data[at] == ' ')
		at++;
	for (*end = at; *end < last && !memchr(",]}\n\t", data[*end], 5);)
		++*end;
	return at;
}

static size_t new_value(uint8_t *data, size_t n, size_t most, unsigned *seed)
{
	size_t end;
	const size_t at = value_at(data, n, seed, &end);
	const size_t was = end - at;
	uint8_t value[96];
	size_t size;
	if (draw(seed, 2) == 0) {
		const char *to = odd[draw(seed, sizeof(odd) / sizeof(odd[0]))];
		return splice(data, n, most, at, was, to, strlen(to));
	}
	size = was < sizeof(value) / 2 ? was : sizeof(value) / 2;
	memcpy(value, data + at, size);
	size = LLVMFuzzerMutate(value, size, sizeof(value));
	return splice(data, n, most, at, was, value, size);
}

/* A random word of the text, at most 32 bytes. */
static size_t word_at(const uint8_t *data, size_t n, unsigned *seed,
    size_t *end)
{
	size_t at = draw(seed, n);
	while (at < n && !is_word(data[at]))
		at++;
	while (at > 0 && is_word(data[at - 1]))
		at--;
	for (*end = at; *end < n && *end < at + 32 && is_word(data[*end]);)
		++*end;
	return at;
}

static size_t new_argument(uint8_t *data, size_t n, size_t most, unsigned *seed)
{
	static const char head[] = "--set ", smoke[] = "--smoke\n";
	char line[256] = "--set ";
	size_t size = sizeof(head) - 1;
	if (draw(seed, 16) == 0)
		return splice(data, n, most, 0, 0, smoke, sizeof(smoke) - 1);
	for (unsigned i = 0, n_words = 1 + draw(seed, 3); i < n_words; i++) {
		size_t end, at = word_at(data, n, seed, &end);
		memcpy(line + size, data + at, end - at);
		size += end - at;
		line[size++] = i + 1 < n_words ? '.' : '=';
	}
	if (draw(seed, 2) == 0) {
		const char *to = odd[draw(seed, sizeof(odd) / sizeof(odd[0]))];
		memcpy(line + size, to, strlen(to));
		size += strlen(to);
	} else {
		size_t end, at = value_at(data, n, seed, &end);
		end = end - at < 64 ? end : at + 64;
		memcpy(line + size, data + at, end - at);
		size += end - at;
	}
	line[size++] = '\n';
	return splice(data, n, most, 0, 0, line, size);
}

/* A line goes, comes twice, or moves. */
static size_t move_line(uint8_t *data, size_t n, size_t most, unsigned *seed)
{
	uint8_t line[512];
	size_t end, to_end, at = line_at(data, n, seed, &end);
	const unsigned what = draw(seed, 3);
	const size_t size = end - at < sizeof(line) ? end - at : sizeof(line);
	memcpy(line, data + at, size);
	if (what != 1)
		n = splice(data, n, most, at, end - at, "", 0);
	if (what == 0 || n == 0)
		return n;
	const size_t to = line_at(data, n, seed, &to_end);
	return splice(data, n, most, to, 0, line, size);
}

static size_t indent_line(uint8_t *data, size_t n, size_t most, unsigned *seed)
{
	size_t end;
	const size_t at = line_at(data, n, seed, &end);
	if (end - at > 2 && data[at] == ' ' && draw(seed, 2) == 0)
		return splice(data, n, most, at, 2, "", 0);
	return splice(data, n, most, at, 0, "  ", 2);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most,
    unsigned seed)
{
	if (n == 0)
		return LLVMFuzzerMutate(data, n, most);
	for (unsigned i = 0, times = 1 + draw(&seed, 4); i < times && n > 0;
	     i++)
		switch (draw(&seed, 8)) {
		case 0:
			n = LLVMFuzzerMutate(data, n, most);
			break;
		case 1:
			n = new_argument(data, n, most, &seed);
			break;
		case 2:
		case 3:
			n = move_line(data, n, most, &seed);
			break;
		case 4:
			n = indent_line(data, n, most, &seed);
			break;
		default:
			n = new_value(data, n, most, &seed);
		}
	return n;
}

/* A with some lines of B in place of some of its own. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n_a, const uint8_t *b,
    size_t n_b, uint8_t *out, size_t most, unsigned seed)
{
	size_t end_a, end_b, more;
	if (n_a == 0 || n_b == 0 || n_a > most)
		return 0;
	const size_t at_a = line_at(a, n_a, &seed, &end_a);
	const size_t at_b = line_at(b, n_b, &seed, &end_b);
	for (unsigned i = draw(&seed, 8); i > 0 && end_b < n_b;
	     i--, end_b = more)
		for (more = end_b + 1; more < n_b && b[more - 1] != '\n';)
			more++;
	memcpy(out, a, n_a);
	return splice(out, n_a, most, at_a, draw(&seed, 2) ? end_a - at_a : 0,
	    b + at_b, end_b - at_b);
}
