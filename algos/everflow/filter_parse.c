/* algos/everflow/filter_parse.c -- which traces: from text to byte code.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A tree of at most 64 tests is read, then written down from its last test to
 * its first, each with where to go on when it holds and when not; so all targets
 * are known when they are needed, and lie behind.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "algos/everflow/filter.h"
#include "topo/addr.h"

enum {
	MAX_TEXT = 4096,
	MAX_WORD = 160,
	N_FLAGS = ALGO_TRACE_N_MARKS + 1,
	N_KNOWN = ALGO_N_FILTER_FIELDS + N_FLAGS + 1
};

/* --- words ---------------------------------------------------------------- */

enum filter_token { T_END, T_WORD, T_TEXT, T_SIGN };

struct filter_node {
	uint8_t kind, not, left, right; /* of a test LEFT is its number */
};
enum { N_TEST, N_AND, N_OR };

struct filter_parser {
	const char *text;
	size_t from, to; /* of the token: TEXT[from..to) */
	size_t end;      /* of the token before */
	enum filter_token token;
	char sign[3], word[MAX_WORD]; /* a word, or what is in quotes */
	unsigned depth, n_tests, n_nodes;
	struct algo_filter_step test[ALGO_FILTER_STEPS];
	struct filter_node node[2 * ALGO_FILTER_STEPS];
	struct algo_filter *f;
	enum algo_filter_use use;
	struct sim_err *e;
};

#define FILTER_FAIL(p, at, code, ...)                                          \
	filter_at(p, at, sim_fail((p)->e, code, __VA_ARGS__))

static int filter_at(const struct filter_parser *p, size_t at, int rc)
{
	return sim_wrap(p->e, rc, "column %zu", at + 1);
}

static int is_of_word(unsigned char c)
{
	return isalnum(c) || c == '_' || c == '.' || c == '/' || c == ':' ||
	    c == '-' || c >= 0x80;
}

/* The arrow of a link's name is a part of a word; its first half is as well. */
static size_t filter_word_end(const char *text, size_t at)
{
	while (is_of_word((unsigned char)text[at]) ||
	    (text[at] == '>' && at > 0 && text[at - 1] == '-'))
		at++;
	return at;
}

static int filter_take(struct filter_parser *p, size_t from, size_t to)
{
	if (to - from >= sizeof(p->word))
		return FILTER_FAIL(p, from, SIM_ELIMIT,
		    "a word of %zu bytes; there may be %d.", to - from,
		    MAX_WORD - 1);
	snprintf(p->word, sizeof(p->word), "%.*s", (int)(to - from),
	    p->text + from);
	return 0;
}

/* Go on to the next token. Of two signs the longer one is meant. */
static int filter_next(struct filter_parser *p)
{
	static const char *const signs[] = {"&&", "||",
	    "==", "!=", "<=", ">=", "(", ")", "!", "<", ">", "&", "|", "~"};
	const char *text = p->text;
	size_t at = p->end = p->to;
	char shown[64];
	while (text[at] == ' ' || text[at] == '\t' || text[at] == '\n')
		at++;
	p->from = p->to = at;
	p->token = T_END;
	if (text[at] == '\0')
		return 0;
	if (text[at] == '"') {
		const char *quote = strchr(text + at + 1, '"');
		if (!quote)
			return FILTER_FAIL(p, at, SIM_EINVAL,
			    "this quote has no end.");
		p->token = T_TEXT;
		p->to = (size_t)(quote + 1 - text);
		return 0;
	}
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (strncmp(text + at, signs[i], strlen(signs[i])) == 0) {
			p->token = T_SIGN;
			p->to = at + strlen(signs[i]);
			snprintf(p->sign, sizeof(p->sign), "%s", signs[i]);
			return 0;
		}
	if (!is_of_word((unsigned char)text[at]))
		return FILTER_FAIL(p, at, SIM_EINVAL,
		    "%s begins nothing that is known.",
		    sim_quote(shown, (char[]){text[at], '\0'}));
	p->token = T_WORD;
	p->to = filter_word_end(text, at);
	return filter_take(p, at, p->to);
}

static int filter_is_sign(const struct filter_parser *p, const char *sign)
{
	return p->token == T_SIGN && strcmp(p->sign, sign) == 0;
}

/* --- values --------------------------------------------------------------- */

/* Decimal, or hexadecimal behind 0x. */
static int filter_number(const char *word, uint64_t *x, struct sim_err *e)
{
	if (strncmp(word, "0x", 2) != 0)
		return sim_parse_u64(word, x, e);
	const size_t n = strspn(word + 2, "0123456789abcdefABCDEF");
	if (n == 0 || n > 16 || word[2 + n] != '\0')
		return sim_fail(e, SIM_EINVAL,
		    "%.40s is no hexadecimal number of 64 bits.", word);
	*x = 0;
	for (const char *c = word + 2; *c; c++)
		*x = *x * 16 +
		    (uint64_t)(isdigit((unsigned char)*c)
			    ? *c - '0'
			    : tolower((unsigned char)*c) - 'a' + 10);
	return 0;
}

static int filter_value_number(struct filter_parser *p,
    const struct algo_filter_field_info *i, struct algo_filter_step *s)
{
	uint64_t x;
	const int rc = filter_number(p->word, &x, p->e);
	if (rc < 0)
		return filter_at(p, p->from, rc);
	if (x > i->most)
		return FILTER_FAIL(p, p->from, SIM_ERANGE,
		    "%s is from 0 to %" PRIu32 "; %" PRIu64 " is not.", i->word,
		    i->most, x);
	s->value = x;
	return 0;
}

/* SYN|FIN: names joined by bars, which are tokens of their own. */
static int filter_value_flags(struct filter_parser *p,
    const struct algo_filter_field_info *i, struct algo_filter_step *s)
{
	static const char *const names[] = {"FIN", "SYN", "RST", "PSH", "ACK",
	    NULL};
	char shown[64];
	int rc;
	s->value = 0;
	if (isdigit((unsigned char)*p->word))
		return filter_value_number(p, i, s);
	for (;;) {
		const size_t k = sim_word_find(names, p->word);
		if (p->token != T_WORD || !names[k]) {
			const char *near = sim_did_you_mean(p->word, names, 5);
			return FILTER_FAIL(p, p->from, SIM_EINVAL,
			    "%s is no TCP flag%s%s%s",
			    sim_quote(shown, p->word),
			    near ? "; did you mean \""
				 : ": FIN SYN RST PSH ACK.",
			    near ? near : "", near ? "\"?" : "");
		}
		s->value |= UINT64_C(1) << k;
		const char *next =
		    p->text + p->to + strspn(p->text + p->to, " ");
		if (*next != '|' || next[1] == '|')
			return 0;
		if ((rc = filter_next(p)) < 0 || (rc = filter_next(p)) < 0)
			return rc;
	}
}

static int filter_value_time(struct filter_parser *p,
    struct algo_filter_step *s)
{
	const int rc = sim_parse_ns(p->word, &s->value, p->e);
	return rc < 0 ? filter_at(p, p->from, rc) : 0;
}

/* An address, with or without the length of a prefix. */
static int filter_address(struct filter_parser *p, uint32_t *ip, uint32_t *mask)
{
	const int rc = topo_prefix_parse(p->word, ip, mask, p->e);
	if (rc < 0)
		return filter_at(p, p->from, rc);
	if (*ip & ~*mask)
		return FILTER_FAIL(p, p->from, SIM_EINVAL,
		    "%.40s has bits behind its prefix.", p->word);
	return 0;
}

static int filter_value_address(struct filter_parser *p,
    struct algo_filter_step *s)
{
	const struct topo *t = p->f->topo;
	uint32_t ip, mask;
	topo_node node;
	int rc;
	if (!t || topo_node_parse(t, p->word, &node, NULL) < 0) {
		if (!isdigit((unsigned char)*p->word))
			return filter_at(p, p->from,
			    algo_path_unknown(t, p->word, p->e));
		if ((rc = filter_address(p, &ip, &mask)) == 0) {
			s->value = ip;
			s->mask = mask;
		}
		return rc;
	}
	s->value = node < t->n_hosts ? topo_addr_of_host(node)
				     : topo_addr_of_switch(node - t->n_hosts);
	return 0;
}

static int filter_value_loopback(struct filter_parser *p,
    struct algo_filter_step *s)
{
	const struct topo *t = p->f->topo;
	uint32_t ip, mask;
	const int rc = filter_address(p, &ip, &mask);
	if (rc < 0)
		return rc;
	s->value =
	    topo_addr_to_switch(ip, t ? t->n_switches : TOPO_ADDR_MAX_SWITCHES);
	if (mask == UINT32_MAX && s->value != TOPO_NONE)
		return 0;
	return FILTER_FAIL(p, p->from, SIM_EINVAL,
	    "%.40s is the address of no switch; tor3, t1.5 and the like are "
	    "names.",
	    p->word);
}

/* Names come first: those of a network from a file may be any words. */
static int filter_value_node(struct filter_parser *p,
    struct algo_filter_step *s)
{
	const struct topo *t = p->f->topo;
	uint32_t tier = TOPO_NONE;
	topo_node node;
	if (t && topo_node_parse(t, p->word, &node, NULL) == 0) {
		if (node < t->n_hosts)
			return FILTER_FAIL(p, p->from, SIM_EINVAL,
			    "%.60s is a host; this is about switches.",
			    p->word);
		s->value = node - t->n_hosts;
		return 0;
	}
	if (isdigit((unsigned char)*p->word))
		return filter_value_loopback(p, s);
	const int rc = algo_path_tier(t, p->word, &tier, p->e);
	if (rc < 0)
		return filter_at(p, p->from, rc);
	s->value = tier;
	s->op =
	    s->op == ALGO_FILTER_EQ ? ALGO_FILTER_TIER : ALGO_FILTER_NOT_TIER;
	return 0;
}

static int filter_value_link(struct filter_parser *p,
    struct algo_filter_step *s)
{
	topo_link link;
	if (!p->f->topo)
		return FILTER_FAIL(p, p->from, SIM_EINVAL,
		    "\"%.80s\" may be a link, but of which topology?", p->word);
	const int rc = topo_link_parse(p->f->topo, p->word, &link, p->e);
	if (rc < 0)
		return filter_at(p, p->from, rc);
	s->value = link;
	return 0;
}

static int filter_value(struct filter_parser *p, struct algo_filter_step *s)
{
	const struct algo_filter_field_info *i = &algo_filter_fields[s->field];
	int rc = 0;
	if (p->token == T_TEXT)
		rc = filter_take(p, p->from + 1, p->to - 1);
	else if (p->token != T_WORD)
		return FILTER_FAIL(p, p->from, SIM_EINVAL,
		    "a value was expected for %s.", i->word);
	s->mask = UINT64_MAX;
	if (rc < 0)
		return rc;
	switch (i->type) {
	case ALGO_FILTER_NUMBER:
		rc = filter_value_number(p, i, s);
		break;
	case ALGO_FILTER_FLAGS:
		rc = filter_value_flags(p, i, s);
		break;
	case ALGO_FILTER_ADDRESS:
		rc = filter_value_address(p, s);
		break;
	case ALGO_FILTER_NODE:
		rc = filter_value_node(p, s);
		break;
	case ALGO_FILTER_LINK:
		rc = filter_value_link(p, s);
		break;
	default:
		rc = filter_value_time(p, s);
	}
	if (rc < 0 || s->op != ALGO_FILTER_ANY)
		return rc;
	if (s->value == 0)
		return FILTER_FAIL(p, p->from, SIM_EINVAL,
		    "\"& 0\" fits nothing.");
	s->mask = s->value;
	s->value = 0;
	return 0;
}

/* --- tests ---------------------------------------------------------------- */

static int filter_unknown(struct filter_parser *p)
{
	const char *known[N_KNOWN];
	char shown[64];
	size_t n = 0;
	for (size_t i = 0; i < ALGO_N_FILTER_FIELDS; i++)
		known[n++] = algo_filter_fields[i].word;
	for (size_t i = 0; algo_filter_flags[i].word; i++)
		known[n++] = algo_filter_flags[i].word;
	known[n++] = "path";
	const char *near = sim_did_you_mean(p->word, known, n);
	return FILTER_FAIL(p, p->from, SIM_EINVAL,
	    "%s is no field and no flag%s%s%s", sim_quote(shown, p->word),
	    near ? "; did you mean \"" : ".", near ? near : "",
	    near ? "\"?" : "");
}

/* The operators, with those types that take each. */
static int filter_op(struct filter_parser *p, struct algo_filter_step *s)
{
	static const char *const ops[] = {"==", "!=", "<", "<=", ">", ">=", "&",
	    NULL};
	const struct algo_filter_field_info *i = &algo_filter_fields[s->field];
	const size_t op = p->token == T_SIGN ? sim_word_find(ops, p->sign) : 7;
	if (!ops[op])
		return FILTER_FAIL(p, p->from, SIM_EINVAL,
		    "one of == != < <= > >= & was expected behind %s.",
		    i->word);
	const int has_order = i->type == ALGO_FILTER_NUMBER ||
	    i->type == ALGO_FILTER_FLAGS || i->type == ALGO_FILTER_TIME;
	if ((op >= ALGO_FILTER_LT && !has_order) ||
	    (op == ALGO_FILTER_ANY && i->type == ALGO_FILTER_TIME))
		return FILTER_FAIL(p, p->from, SIM_EINVAL,
		    "%s takes %s, not %s.", i->word,
		    has_order ? "== != < <= > >=" : "== and !=", ops[op]);
	s->op = (uint8_t)op;
	return filter_next(p);
}

/* "all:" stands before fields of copies alone. */
static int filter_field(struct filter_parser *p, struct algo_filter_step *s)
{
	const char *word = p->word;
	size_t i = 0;
	s->all = strncmp(word, "all:", 4) == 0;
	word += s->all ? 4 : 0;
	while (i < ALGO_N_FILTER_FIELDS &&
	    strcmp(algo_filter_fields[i].word, word) != 0)
		i++;
	if (i == ALGO_N_FILTER_FIELDS && !s->all)
		return filter_unknown(p);
	if (s->all && algo_filter_fields[i].scope != ALGO_OF_COPY)
		return FILTER_FAIL(p, p->from, SIM_EINVAL,
		    "\"all:\" is for fields of copies, such as ip.ttl; %.40s "
		    "is "
		    "none.",
		    word);
	if (algo_filter_fields[i].scope == ALGO_OF_TRACE &&
	    p->use == ALGO_IS_FILTER)
		return FILTER_FAIL(p, p->from, SIM_EINVAL,
		    "%s is a property of traces: of conditions, not of "
		    "filters.",
		    word);
	s->field = (uint8_t)i;
	return filter_next(p);
}

static int filter_compare(struct filter_parser *p, struct algo_filter_step *s)
{
	int rc = filter_field(p, s);
	if (rc == 0)
		rc = filter_op(p, s);
	if (rc == 0)
		rc = filter_value(p, s);
	return rc < 0 ? rc : filter_next(p);
}

static int filter_pattern(struct filter_parser *p, struct algo_filter_step *s)
{
	uint8_t start;
	size_t at;
	int rc = filter_next(p);
	if (rc == 0 && filter_is_sign(p, "~"))
		rc = filter_next(p);
	else if (rc == 0)
		return FILTER_FAIL(p, p->from, SIM_EINVAL,
		    "\"~\" was expected behind path.");
	if (rc < 0)
		return rc;
	if (p->token != T_TEXT)
		return FILTER_FAIL(p, p->from, SIM_EINVAL,
		    "a path in quotes was expected: \"tor3 . t2 *\".");
	rc = algo_path_compile(&p->f->paths, p->text + p->from + 1,
	    p->to - p->from - 2, p->f->topo, &start, &s->mask, &at, p->e);
	if (rc < 0)
		return filter_at(p, p->from + 1 + at, rc);
	s->op = ALGO_FILTER_PATH;
	s->value = start;
	return filter_next(p);
}

static int filter_test(struct filter_parser *p, uint8_t *out)
{
	struct algo_filter_step s = {.from = (uint16_t)p->from};
	size_t i = 0;
	int rc;
	if (p->token != T_WORD)
		return FILTER_FAIL(p, p->from, SIM_EINVAL,
		    "a test was expected here.");
	if (p->n_tests == ALGO_FILTER_STEPS)
		return FILTER_FAIL(p, p->from, SIM_ELIMIT,
		    "more than %d tests.", ALGO_FILTER_STEPS);
	while (algo_filter_flags[i].word &&
	    strcmp(algo_filter_flags[i].word, p->word) != 0)
		i++;
	if (algo_filter_flags[i].word) {
		s.op = ALGO_FILTER_MARKS;
		s.mask = algo_filter_flags[i].marks;
		rc = filter_next(p);
	} else if (strcmp(p->word, "path") == 0) {
		rc = filter_pattern(p, &s);
	} else {
		rc = filter_compare(p, &s);
	}
	if (rc < 0)
		return rc;
	s.n = (uint16_t)(p->end - s.from);
	p->test[p->n_tests] = s;
	*out = (uint8_t)p->n_nodes;
	p->node[p->n_nodes++] =
	    (struct filter_node){N_TEST, 0, (uint8_t)p->n_tests++, 0};
	return 0;
}

/* --- expressions ---------------------------------------------------------- */

static int filter_or(struct filter_parser *p, uint8_t *out);

static int filter_not(struct filter_parser *p, uint8_t *out)
{
	const int inverted = filter_is_sign(p, "!");
	int rc = inverted ? filter_next(p) : 0;
	if (rc < 0)
		return rc;
	if (filter_is_sign(p, "(")) {
		const size_t open = p->from;
		if (++p->depth > ALGO_FILTER_DEPTH)
			return FILTER_FAIL(p, open, SIM_ELIMIT,
			    "more than %d parentheses within each other.",
			    ALGO_FILTER_DEPTH);
		if ((rc = filter_next(p)) < 0 || (rc = filter_or(p, out)) < 0)
			return rc;
		if (!filter_is_sign(p, ")"))
			return FILTER_FAIL(p, p->from, SIM_EINVAL,
			    "\")\" was expected for the \"(\" of column %zu.",
			    open + 1);
		p->depth--;
		rc = filter_next(p);
	} else {
		rc = filter_test(p, out);
	}
	if (rc == 0)
		p->node[*out].not ^= (uint8_t)inverted;
	return rc;
}

/* Operands of one operator, joined from the left; there are at most as many
 * joints as tests, so the nodes suffice. */
static int filter_joined(struct filter_parser *p, const char *sign,
    uint8_t kind, int (*operand)(struct filter_parser *p, uint8_t *out),
    uint8_t *out)
{
	uint8_t right;
	int rc = operand(p, out);
	while (rc == 0 && filter_is_sign(p, sign)) {
		if ((rc = filter_next(p)) < 0 || (rc = operand(p, &right)) < 0)
			break;
		p->node[p->n_nodes] =
		    (struct filter_node){kind, 0, *out, right};
		*out = (uint8_t)p->n_nodes++;
	}
	return rc;
}

static int filter_and(struct filter_parser *p, uint8_t *out)
{
	return filter_joined(p, "&&", N_AND, filter_not, out);
}

static int filter_or(struct filter_parser *p, uint8_t *out)
{
	return filter_joined(p, "||", N_OR, filter_and, out);
}

/* --- code ----------------------------------------------------------------- */

/* Write down node I before what was written; YES and NO are where to go on.
 * Returns the step to begin with. Trees are as deep as they have tests. */
static uint8_t filter_emit(struct filter_parser *p, uint8_t i, uint8_t yes,
    uint8_t no)
{
	const struct filter_node n = p->node[i];
	const uint8_t to_yes = n.not ? no : yes, to_no = n.not ? yes : no;
	if (n.kind == N_TEST) {
		/* Tests were read in this order, so each has its place. */
		struct algo_filter_step *s = &p->f->step[n.left];
		*s = p->test[n.left];
		s->yes = to_yes;
		s->no = to_no;
		return n.left;
	}
	const uint8_t right = filter_emit(p, n.right, to_yes, to_no);
	return n.kind == N_AND ? filter_emit(p, n.left, right, to_no)
			       : filter_emit(p, n.left, to_yes, right);
}

static void filter_classify(struct algo_filter *f)
{
	f->header_only = 1;
	for (unsigned i = 0; i < f->n; i++) {
		const struct algo_filter_step *s = &f->step[i];
		const unsigned scope = algo_filter_fields[s->field].scope;
		const int is_field = s->op < ALGO_FILTER_MARKS;
		f->header_only &= is_field && scope == ALGO_OF_PACKET;
		f->is_condition |= is_field && scope == ALGO_OF_TRACE;
	}
}

int algo_filter_compile(struct algo_filter *f, const char *text,
    const struct topo *t, enum algo_filter_use use, struct sim_err *e)
{
	struct filter_parser p = {.text = text, .f = f, .use = use, .e = e};
	uint8_t root = 0;
	int rc;
	*f = (struct algo_filter){.topo = t};
	if (strlen(text) > MAX_TEXT)
		return sim_fail(e, SIM_ELIMIT, "%zu bytes; there may be %d.",
		    strlen(text), MAX_TEXT);
	if ((rc = filter_next(&p)) < 0)
		return rc;
	if (p.token != T_END) {
		if ((rc = filter_or(&p, &root)) < 0)
			return rc;
		if (p.token != T_END)
			return FILTER_FAIL(&p, p.from, SIM_EINVAL,
			    "\"&&\", \"||\" or the end was expected here.");
		filter_emit(&p, root, ALGO_FILTER_YES, ALGO_FILTER_NO);
		f->n = (uint8_t)p.n_tests;
	}
	filter_classify(f);
	return 0;
}
