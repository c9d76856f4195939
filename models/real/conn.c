/* models/real/conn.c -- the fabric's connections: their table, their payload.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Connections stand in a table of fixed size, so that a fabric that is flooded
 * refuses more work instead of growing. A slot is named by its index and a turn
 * that goes up each time the slot is freed: an event or a token of an earlier
 * connection in the same slot is thereby known to be stale.
 * All connections of one state wait equally long. So a queue for each state, in
 * the order of entering it, is sorted by deadline, and the first of each queue
 * is all that has to be looked at.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "models/real/impl.h"

/* --- the table ---------------------------------------------------------- */

static uint32_t index_of(const struct fabric_real *f, const struct real_conn *c)
{
	return (uint32_t)(c - f->conn);
}

/* Which of the two limits a connection counts against: those that this fabric
 * began, or those that others began with it. */
static uint32_t *n_of(struct fabric_real *f, const struct real_conn *c)
{
	return c->state == REAL_SERVED ? &f->n_clients : &f->n_flights;
}

/* Take a connection out of the queue of its state. At either end of the queue
 * there is no neighbour to change, but the head or the tail. */
static void conn_leave(struct fabric_real *f, struct real_conn *c)
{
	struct real_line *l = &f->line[c->state];
	*(c->prev == REAL_NONE ? &l->head : &f->conn[c->prev].next) = c->next;
	*(c->next == REAL_NONE ? &l->tail : &f->conn[c->next].prev) = c->prev;
}

/* Append at the tail, where the latest deadline belongs: real_now() never goes
 * back, and the wait is the same for all of this state. */
static void conn_join(struct fabric_real *f, struct real_conn *c,
    enum real_state state)
{
	const uint32_t i = index_of(f, c);
	struct real_line *l = &f->line[state];
	const sim_ns wait = f->wait_ns[state];
	c->due = wait == SIM_NEVER ? SIM_NEVER : real_now(f) + wait;
	c->state = (uint8_t)state;
	c->prev = l->tail;
	c->next = REAL_NONE;
	*(l->tail == REAL_NONE ? &l->head : &f->conn[l->tail].next) = i;
	l->tail = i;
}

void real_conn_enter(struct fabric_real *f, struct real_conn *c,
    enum real_state state)
{
	conn_leave(f, c);
	conn_join(f, c, state);
}

struct real_conn *real_conn_open(struct fabric_real *f, int fd,
    enum real_state state, topo_host host)
{
	const int serves = state == REAL_SERVED;
	const uint32_t most =
	    serves ? f->params.max_clients : f->params.max_flights;
	/* The two limits add up to the size of the table, so whoever is within
	 * a limit always finds a slot. */
	uint32_t i = f->free, turn = 0;
	if ((serves ? f->n_clients : f->n_flights) == most)
		return NULL;
	if (i != REAL_NONE) {
		f->free = f->conn[i].next;
		/* The turn outlives the connection: that is how stale events
		 * are told apart. */
		turn = f->conn[i].turn;
	} else {
		i = f->n_used++;
	}
	struct real_conn *c = &f->conn[i];
	*c = (struct real_conn){.fd = fd,
	    .host = host,
	    .turn = turn,
	    .polled = REAL_NONE};
	conn_join(f, c, state);
	++*n_of(f, c);
	return c;
}

void real_conn_close(struct fabric_real *f, struct real_conn *c)
{
	/* Closing the descriptor takes it out of epoll as well. SO_LINGER of 0
	 * makes this a reset, so no TIME_WAIT holds the port. */
	close(c->fd);
	--*n_of(f, c);
	if (c->state == REAL_SERVED)
		f->n_from[c->from]--;
	conn_leave(f, c);
	c->state = REAL_FREE;
	c->turn = (c->turn + 1) % REAL_TURNS;
	c->next = f->free;
	f->free = index_of(f, c);
}

/* Most changes of what is waited for are none; those cost no system call. */
int real_conn_poll(struct fabric_real *f, struct real_conn *c, uint32_t events,
    struct sim_err *e)
{
	const uint32_t before = c->polled;
	c->polled = events;
	if (before == events)
		return 0;
	return (before == REAL_NONE ? real_poll_fd : real_repoll_fd)(f, c->fd,
	    events, REAL_CONN, c->turn, index_of(f, c), e);
}

struct real_conn *real_conn_of(struct fabric_real *f, uint32_t turn,
    uint32_t index)
{
	struct real_conn *c = index < f->n_used ? &f->conn[index] : NULL;
	return c && c->state != REAL_FREE && c->turn == turn ? c : NULL;
}

/* What the agent of a server names the connection by: turn and index, as in an
 * epoll event. */
uint64_t real_conn_token(const struct fabric_real *f, const struct real_conn *c)
{
	return (uint64_t)c->turn << 32 | index_of(f, c);
}

/* --- deadlines ---------------------------------------------------------- */

sim_ns real_conn_next(const struct fabric_real *f)
{
	sim_ns next = SIM_NEVER;
	for (unsigned s = 0; s < REAL_N_STATES; s++) {
		const uint32_t i = f->line[s].head;
		if (i != REAL_NONE && f->conn[i].due < next)
			next = f->conn[i].due;
	}
	return next;
}

int real_conn_due(struct fabric_real *f, struct sim_err *e)
{
	const sim_ns now = real_now(f);
	int rc = 0;
	for (unsigned s = 0; s < REAL_N_STATES; s++) {
		uint32_t i;
		/* Both branches close the first connection, which takes it out
		 * of this queue, so the loop ends. */
		while (rc == 0 && (i = f->line[s].head) != REAL_NONE &&
		    f->conn[i].due <= now) {
			if (s != REAL_SERVED) {
				/* A client that waits in vain is an outcome
				 * that its agent hears of; a peer that is too
				 * slow is only counted. */
				rc = real_connect_late(f, &f->conn[i], e);
				continue;
			}
			f->count.n_late++;
			real_conn_close(f, &f->conn[i]);
		}
	}
	return rc;
}

/* --- payload ------------------------------------------------------------ */

int real_conn_send(struct real_conn *c, const char *text, size_t n, int flags)
{
	while (c->n_out < n) {
		/* MSG_NOSIGNAL: a peer that has gone is an error to return, not
		 * a SIGPIPE that ends the process. */
		const ssize_t sent = send(c->fd, text + c->n_out, n - c->n_out,
		    flags | MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN ? 0 : -1;
		c->n_out += (uint32_t)sent;
	}
	return 1;
}

/* N bytes of a head came, in f->in. No payload begins as a GET does. */
static int conn_read_head(const struct fabric_real *f, struct real_conn *c,
    size_t n)
{
	switch (c->state == REAL_SERVED
		? http_ping_read_ask(&c->head, f->in, n)
		: http_ping_read_answer(&c->head, f->in, n)) {
	case HTTP_PING_MORE:
		return 0;
	case HTTP_PING_WHOLE:
		return 2;
	default:
		return -2;
	}
}

int real_conn_read(struct fabric_real *f, struct real_conn *c, uint32_t *n)
{
	for (;;) {
		const ssize_t got =
		    recv(c->fd, f->in, sizeof(f->in), MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == EAGAIN ? 0 : -1;
		if (got == 0)
			return 1;
		if (c->state == REAL_SERVED && *n == 0 && f->in[0] == 'G')
			c->ping = AGENT_PING_HTTP;
		if (c->ping == AGENT_PING_HTTP) {
			const int head = conn_read_head(f, c, (size_t)got);
			if (head != 0)
				return head;
			continue;
		}
		/* What must come is known beforehand, so it is compared where
		 * it is and nothing is stored. f->in has one byte more than a
		 * payload may have, lest a peer that sends too much go
		 * unnoticed. */
		if ((size_t)got > sizeof(f->payload) - *n ||
		    memcmp(f->in, f->payload + *n, (size_t)got) != 0)
			return -2;
		*n += (uint32_t)got;
	}
}
