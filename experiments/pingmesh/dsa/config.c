/* experiments/pingmesh/dsa/config.c -- the jobs' parameters and services.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/pingmesh/dsa/dsa.h"
#include "sim/vec.h"
#include "sim/yaml.h"

/* --- parameters ------------------------------------------------------------*/

const struct sim_field xp_dsa_fields[] = {
    {"tolerance", SIM_F_F64, offsetof(struct xp_dsa_params, tolerance_s),
	.min = 1e-3, .max = 30, .unit = "s", .def = "0.25",
	.doc = "a connect so near to a timer's time lost a SYN"},
    {"conf", SIM_F_F64, offsetof(struct xp_dsa_params, conf), .min = 0.5,
	.max = 0.9999, .unit = "1", .def = "0.95",
	.doc = "confidence of drop rates"},
    {0},
};

static const struct part {
	const char *name;
	const struct sim_field *fields;
	size_t offset;
} parts[] = {
#define X(map, fields) {#map, fields, offsetof(struct xp_dsa_params, map)},
    XP_DSA_MAPS(X)
#undef X
};

/* The section has more keys, by which the recording was made. They are left
 * alone here, so keys are looked for one by one and others are no mistakes. */
static int dsa_config_read_section(struct sim_yaml *y, struct xp_dsa_params *p,
    struct sim_err *e)
{
	const struct sim_yaml_node *section = sim_yaml_get(y->root, "pingmesh");
	int rc = sim_field_defaults(xp_dsa_fields, p, e);
	for (const struct sim_field *f = xp_dsa_fields; rc == 0 && f->name;
	     f++) {
		const struct sim_yaml_node *n = sim_yaml_get(section, f->name);
		if (n)
			rc = sim_yaml_read_value(y, n, f, p, e);
	}
	for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(*parts); i++)
		rc = sim_yaml_read(y, sim_yaml_get(section, parts[i].name),
		    section, parts[i].fields, NULL, (char *)p + parts[i].offset,
		    e);
	return rc < 0 ? rc : sim_yaml_verdict(y, e);
}

int xp_dsa_params_read(struct xp_dsa_params *p, const char *spec,
    struct sim_err *e)
{
	struct sim_yaml y;
	*p = (struct xp_dsa_params){0};
	int rc = sim_yaml_parse(&y, "spec", spec, strlen(spec), e);
	if (rc == 0)
		rc = dsa_config_read_section(&y, p, e);
	sim_yaml_free(&y);
	return rc;
}

/* --- services --------------------------------------------------------------*/

void xp_dsa_services_free(struct xp_dsa_services *s)
{
	free(s->names);
	free(s->server);
	*s = (struct xp_dsa_services){0};
}

static char *dsa_config_trim(char *text)
{
	text += strspn(text, " \t\n");
	char *end = text + strlen(text);
	while (end > text && strchr(" \t\n", end[-1]))
		*--end = '\0';
	return text;
}

static int dsa_config_read_host(const char *text, uint32_t n_hosts,
    topo_host *out, struct sim_err *e)
{
	char quoted[64];
	uint64_t h;
	if (sim_parse_u64(text, &h, NULL) < 0)
		return sim_fail(e, SIM_EINVAL,
		    "%s is no host; hosts are listed as 0-15,32.",
		    sim_quote(quoted, text));
	if (h >= n_hosts)
		return sim_fail(e, SIM_EINVAL,
		    "there is no host %llu; the last one is %u.",
		    (unsigned long long)h, n_hosts - 1);
	*out = (topo_host)h;
	return 0;
}

struct hosts {
	topo_host *host;
	size_t n, cap;
	uint8_t *named; /* [n_hosts], of this service */
};

/* Add "7" or "7-9". A host that is named twice would be weighed twice in its
 * service's level, so it is a mistake. */
static int add_range(struct hosts *l, char *text, uint32_t n_hosts,
    struct sim_err *e)
{
	topo_host first = 0, last = 0;
	char *to = strchr(text, '-');
	if (to)
		*to++ = '\0';
	int rc = dsa_config_read_host(text, n_hosts, &first, e);
	if (rc == 0)
		rc = dsa_config_read_host(to ? to : text, n_hosts, &last, e);
	if (rc == 0 && first > last)
		rc = sim_fail(e, SIM_EINVAL, "hosts %u-%u run backwards.",
		    first, last);
	if (rc < 0 ||
	    (rc = SIM_RESERVE(&l->host, &l->cap, l->n + (last - first) + 1,
		 e)) < 0)
		return rc;
	for (topo_host h = first; h <= last; h++) {
		if (l->named[h]++)
			return sim_fail(e, SIM_EINVAL,
			    "host %u is named twice.", h);
		l->host[l->n++] = h;
	}
	return 0;
}

/* Names are written with blanks between them into the results file, so none may
 * have a blank in it. */
static int dsa_config_check_name(const struct xp_dsa_services *s,
    const char *name, struct sim_err *e)
{
	char quoted[64];
	const size_t n = strspn(name,
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789_.-");
	if (*name == '\0' || name[n] != '\0')
		return sim_fail(e, SIM_EINVAL,
		    "%s is no name of letters, digits, '_', '.' and '-'.",
		    sim_quote(quoted, name));
	for (uint32_t i = 0; i < s->n; i++)
		if (strcmp(s->service[i].name, name) == 0)
			return sim_fail(e, SIM_EINVAL,
			    "there are two of that name.");
	return 0;
}

/* Add "web=0-15,32". All services have their servers in one list, one after the
 * other. The list may still move in memory while it grows, so a service only
 * notes how many servers it has; add_all() sets the pointers at the end. */
static int add_service(struct xp_dsa_services *s, struct hosts *l, char *text,
    uint32_t n_hosts, struct sim_err *e)
{
	char *list = strchr(text, '=');
	if (list)
		*list++ = '\0';
	const char *name = list ? dsa_config_trim(text) : "service";
	struct algo_sla_service *v = &s->service[s->n];
	const size_t before = l->n;
	int rc = dsa_config_check_name(s, name, e);
	memset(l->named, 0, n_hosts);
	for (char *rest = list ? list : text, *one;
	     rc == 0 && (one = strsep(&rest, ","));)
		rc = add_range(l, dsa_config_trim(one), n_hosts, e);
	if (rc < 0)
		return sim_wrap(e, rc, "service%s%s", list ? " " : "",
		    list ? name : "");
	*v = (struct algo_sla_service){.name = name, .n = l->n - before};
	s->n++;
	return 0;
}

static int add_all(struct xp_dsa_services *s, struct hosts *l, uint32_t n_hosts,
    struct sim_err *e)
{
	int rc = 0;
	char *rest = s->names, *one;
	while (rc == 0 && (one = strsep(&rest, ";"))) {
		if (*(one = dsa_config_trim(one)) == '\0')
			continue;
		rc = s->n < XP_DSA_MAX_SERVICES
		    ? add_service(s, l, one, n_hosts, e)
		    : sim_fail(e, SIM_ELIMIT, "more than %d services.",
			  XP_DSA_MAX_SERVICES);
	}
	/* The list is S's from now on, which is freed when this has failed. */
	s->server = l->host;
	size_t at = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		s->service[i].server = s->server + at;
		at += s->service[i].n;
	}
	return rc;
}

int xp_dsa_services_read(struct xp_dsa_services *s, const char *text,
    uint32_t n_hosts, struct sim_err *e)
{
	struct hosts l = {0};
	*s = (struct xp_dsa_services){0};
	int rc = sim_dup(&s->names, text, e);
	if (rc == 0 && (rc = SIM_ZALLOC(&l.named, n_hosts, e)) == 0)
		rc = add_all(s, &l, n_hosts, e);
	free(l.named);
	if (rc < 0)
		xp_dsa_services_free(s);
	return rc;
}
