import { consistencyHeader, laterOf } from '@recordbus/request/consistency';
import { clientOf } from '@recordbus/request/request-scope';
import type { RecentWrites } from '../recent-writes/recent-writes.ts';
import { guest } from './authenticate.ts';
import type { GatewayResponse, Step } from './exchange.ts';

/**
 * Makes reads see their client's writes on any read replica. It adds the state after the client's last write to reads,
 * and remembers the state after each write before its answer leaves.
 */
export const keepConsistent =
  (recentWrites: RecentWrites): Step =>
  (request, response, next) => {
    const { context } = response.locals.exchange;
    const client = clientOf(context);
    if (request.method === 'GET' || request.method === 'HEAD') {
      const sent = request.headers[consistencyHeader];
      // A caller signs up or in as a guest, and then reads with the answer's token.
      const asGuest = clientOf({ ...context, principal: guest });
      const own = laterOf(recentWrites.stateOf(client), recentWrites.stateOf(asGuest));
      const needed = laterOf(typeof sent === 'string' ? sent : undefined, own);
      if (needed !== undefined) request.headers[consistencyHeader] = needed;
    } else noteBeforeHead(response, (state) => recentWrites.note(client, state));
    next();
  };

/** Calls `note` with the state that an answer names, before its head is written. */
function noteBeforeHead(response: GatewayResponse, note: (state: string) => void): void {
  const writeHead = response.writeHead.bind(response) as (...given: unknown[]) => GatewayResponse;
  response.writeHead = (...given: unknown[]) => {
    const state = response.getHeader(consistencyHeader);
    if (typeof state === 'string') note(state);
    return writeHead(...given);
  };
}
