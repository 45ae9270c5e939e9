import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { askServers, choosePrimary } from './find-primary.ts';
import type { ServerState } from './server-state.ts';

const state = (takesWrites: boolean, timeline: number): ServerState => ({ takesWrites, timeline, isPooled: false });
const answer = (server: string, takesWrites: boolean, timeline: number) => ({
  server,
  state: state(takesWrites, timeline),
});
const unknown = { server: undefined, timeline: 0 };
const chosen = (...given: Parameters<typeof choosePrimary<string>>) => choosePrimary(...given)?.server;

describe('the primary', () => {
  test('is the server that takes writes', () => {
    assert.equal(
      chosen([answer('a', false, 0), answer('b', true, 1), { server: 'c', error: new Error() }], unknown),
      'b',
    );
    assert.equal(chosen([answer('a', false, 0)], unknown), undefined);
  });

  test('is the one on the newest timeline while an old primary still runs', () => {
    const both = [answer('old', true, 1), answer('new', true, 2)];
    assert.equal(chosen(both, unknown), 'new');
    assert.equal(chosen(both, { server: 'old', timeline: 1 }), 'new');
    assert.equal(chosen([answer('old', true, 1)], { server: 'new', timeline: 2 }), undefined);
  });

  test('stays the one in use if another has the same timeline', () => {
    const both = [answer('a', true, 1), answer('b', true, 1)];
    assert.equal(chosen(both, { server: 'b', timeline: 1 }), 'b');
    assert.equal(chosen(both, unknown), 'a');
  });
});

test("a server that hangs does not delay the primary's answer", async () => {
  const never = new Promise<ServerState>(() => {});
  const answers = await askServers(['hangs', 'primary', 'refuses'], (server) => {
    if (server === 'hangs') return never;
    return server === 'primary' ? Promise.resolve(state(true, 1)) : Promise.reject(new Error('refused'));
  });
  assert.deepEqual(answers.map(({ server }) => server).sort(), ['primary', 'refuses']);
});
