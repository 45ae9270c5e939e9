import assert from 'node:assert/strict';
import { openLive } from '../../harness/clients/live-client.ts';
import type { Call } from './survey.ts';

interface Parts {
  readonly call: Call;
  readonly admin: string;
  readonly url: string;
  readonly reach: (operationId: string) => void;
}

/** Calls every live change operation. Open answers are read as streams. */
export async function goThroughLive({ call, admin: as, url, reach }: Parts): Promise<void> {
  for (const [id, asBody] of [
    ['getRealtime', false],
    ['postRealtime', true],
  ] as const) {
    await using live = await openLive(url, [{ collection: 'everything', snapshot: true }], { token: as, asBody });
    assert.equal(live.status, 200, live.text);
    await live.arrived('snapshot');
    reach(id);
  }
  await call('postRealtimeTicket', { as });
  const everyone = { pattern: '*', publish_rule: null, subscribe_rule: null };
  await call('patchAdminSettings', { as, body: { 'realtime.channels': JSON.stringify([everyone]) } });
  await call('postRealtimeChannelsByName', { as, path: { name: 'news' }, body: { data: 'hello' } });
}
