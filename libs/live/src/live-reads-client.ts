import { randomBytes, randomUUID } from 'node:crypto';
import { AppError, unavailable } from '@recordbus/errors';
import { callService } from '@recordbus/request/call-service';
import type { ContextSigner, RequestContext } from '@recordbus/request/context';
import { z } from 'zod';
import { livePaths } from './live-paths.ts';
import type { LiveReads } from './live-reads.ts';
import type { LivePlan } from './plan.ts';
import { liveSchemas, type refusal } from './schemas.ts';
import { splitBatch } from './split-batch.ts';
import type { Verdicts } from './verdicts.ts';

interface ClientOptions {
  /** The records service's URL. */
  readonly url: string;
  readonly contextSigner: ContextSigner;
}

/** A read waits up to 10 s for its turn, and may then take as long as an admin allows reads, up to a minute. */
const timeoutMs = 90_000;

/** Plans in one request. Each has a subscription's texts, and services read bodies as a whole. */
const plansAtOnce = 100;

/** Calls the records service over HTTP, with the signed context. Throws its refusals, and 503 if it does not answer. */
export function createLiveReadsClient({ url, contextSigner }: ClientOptions): LiveReads {
  async function call<Name extends keyof typeof liveSchemas>(
    name: Name,
    body: z.input<(typeof liveSchemas)[Name]['body']>,
  ): Promise<z.output<(typeof liveSchemas)[Name]['answer']>> {
    const request = { method: 'POST', path: livePaths[name], body, timeoutMs } as const;
    const answer = await callService({ url, contextSigner, away: recordsAway }, request, ownContext());
    const read = z.object({ data: liveSchemas[name].answer }).safeParse(answer);
    if (!read.success) throw recordsAway(read.error);
    return read.data.data as z.output<(typeof liveSchemas)[Name]['answer']>;
  }

  return {
    async open(requests) {
      const results = await call('open', { requests: [...requests] });
      return results.map((result) => ('plan' in result ? result : { refusal: readRefusal(result.refusal) }));
    },
    snapshot: (request, caller) => call('snapshot', { request, caller }),
    async candidates({ plan, events, client }) {
      const ids = new Set<string>();
      for (const part of splitBatch(events)) {
        const found = await call('candidates', { plan: toPlan(plan), events: part, client });
        if (!found.ids) return undefined;
        for (const id of found.ids) ids.add(id);
      }
      return [...ids];
    },
    async judge({ plan, events, client, callers }) {
      const verdicts: (Verdicts & { readonly isStale: false })['events'][number][] = [];
      const values = callers.map((one) => [...one]);
      for (const part of splitBatch(events)) {
        const judged = await call('judge', { plan: toPlan(plan), events: part, client, callers: values });
        if (judged.isStale) return judged;
        verdicts.push(...judged.events);
      }
      return { isStale: false, events: verdicts };
    },
    async isCurrent(plans) {
      const results: boolean[] = [];
      for (let from = 0; from < plans.length; from += plansAtOnce) {
        const part = plans.slice(from, from + plansAtOnce).map(toPlan);
        results.push(...(await call('isCurrent', { plans: part })));
      }
      return results;
    },
    admitsToChannel: async (rule, channel, caller) => (await call('channel', { rule, channel, caller })).admits,
  };
}

const toPlan = (plan: LivePlan): z.input<typeof liveSchemas.judge.body>['plan'] => ({
  ...plan,
  crossed: plan.crossed.map((one) => ({
    ...one,
    fields: [...one.fields],
    accountFields: [...one.accountFields],
  })),
});

/** The context for the product's own work. */
const ownContext = (): RequestContext => ({
  requestId: randomUUID(),
  traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00`,
  principal: { type: 'guest', rejectedToken: false },
  clientAddress: '',
});

/** Converts a refusal to the form in which it is sent within an answer. */
export const writeRefusal = ({ status, code, message, details, headers }: AppError): z.input<typeof refusal> => ({
  status,
  code,
  error: message,
  details,
  headers,
});

const readRefusal = ({ status, code, error, details, headers }: z.output<typeof refusal>): AppError =>
  new AppError(status, code, error, { headers, ...(details && { details }) });

const recordsAway = (cause?: unknown) => unavailable('the records service does not answer', cause);
