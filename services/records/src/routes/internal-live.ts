import { ok, type Route, route } from '@recordbus/http';
import { type LiveReads, livePaths, liveSchemas, writeRefusal } from '@recordbus/live';

/** Large enough for ten thousand callers' values and one request's events. */
const bodyLimitBytes = 64 * 2 ** 20;

/** Another service's bodies have no member limit, and no client waits while they are parsed. */
const parseBody = async (bytes: Uint8Array): Promise<unknown> => JSON.parse(new TextDecoder().decode(bytes));

const shared = { method: 'POST', access: 'public', scope: 'any', bodyLimitBytes, parseBody } as const;

/** The routes for the realtime service. The gateway does not serve them. */
export const internalLiveRoutes = (live: LiveReads): Route[] => [
  route({
    ...shared,
    path: livePaths.open,
    summary: 'Open live subscriptions',
    body: liveSchemas.open.body,
    answers: { 200: liveSchemas.open.answer },
    async handler({ body }) {
      const results = await live.open(body.requests);
      return ok(results.map((one) => ('refusal' in one ? { refusal: writeRefusal(one.refusal) } : one)));
    },
  }),
  route({
    ...shared,
    path: livePaths.snapshot,
    summary: "Read a live subscription's snapshot",
    body: liveSchemas.snapshot.body,
    answers: { 200: liveSchemas.snapshot.answer },
    handler: async ({ body }) => ok(await live.snapshot(body.request, body.caller)),
  }),
  route({
    ...shared,
    path: livePaths.candidates,
    summary: 'Find the accounts that events may concern',
    body: liveSchemas.candidates.body,
    answers: { 200: liveSchemas.candidates.answer },
    handler: async ({ body }) => ok({ ids: await live.candidates(body) }),
  }),
  route({
    ...shared,
    path: livePaths.judge,
    summary: 'Judge events for callers',
    body: liveSchemas.judge.body,
    answers: { 200: liveSchemas.judge.answer },
    handler: async ({ body }) => ok(await live.judge(body)),
  }),
  route({
    ...shared,
    path: livePaths.isCurrent,
    summary: 'Compare plans with the current schema',
    body: liveSchemas.isCurrent.body,
    answers: { 200: liveSchemas.isCurrent.answer },
    handler: async ({ body }) => ok(await live.isCurrent(body.plans)),
  }),
  route({
    ...shared,
    path: livePaths.channel,
    summary: "Check a channel's rule",
    body: liveSchemas.channel.body,
    answers: { 200: liveSchemas.channel.answer },
    handler: async ({ body }) => ok({ admits: await live.admitsToChannel(body.rule, body.channel, body.caller) }),
  }),
];
