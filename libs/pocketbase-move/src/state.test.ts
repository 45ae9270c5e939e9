import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock, test } from 'node:test';
import { openState } from './state.ts';

test('rows that a killed run may have sent are outdated once they change, until they are written', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-state-'));
  t.after(() => rmSync(directory, { recursive: true }));
  mock.timers.enable({ apis: ['Date'] });
  t.after(() => mock.timers.reset());
  const path = join(directory, 'notes');
  const row = (id: string, digest: string) => ({ id, digest, updated: 1, files: [] });
  /** A run that sees these rows; `work` is what it does before it is killed. */
  function run(
    rows: readonly (readonly [string, string])[],
    work: (state: ReturnType<typeof openState>) => void,
  ): void {
    mock.timers.tick(1000);
    const state = openState(path, 'here');
    state.noteRows(
      'rows',
      rows.map(([id, digest]) => row(id, digest)),
    );
    work(state);
    state.close();
  }
  const found = (state: ReturnType<typeof openState>) =>
    [state.newRows('rows'), state.outdatedRows('rows')].map((rows) => [...rows].map(({ id }) => id));

  run(
    [
      ['a', '1'],
      ['b', '1'],
    ],
    (state) => {
      assert.deepEqual(found(state), [['a', 'b'], []]);
      state.noteSent('rows');
    },
  );
  run(
    [
      ['a', '2'],
      ['b', '1'],
      ['c', '1'],
    ],
    (state) => {
      assert.deepEqual(found(state), [['b', 'c'], ['a']]);
      state.noteSent('rows');
    },
  );
  // The first value is back, but the last run may have written the second one.
  run(
    [
      ['a', '1'],
      ['b', '1'],
    ],
    (state) => {
      assert.deepEqual(found(state), [['b'], ['a']]);
      state.noteMoved('rows', ['a']);
      state.noteAllNewMoved('rows', new Set());
      assert.deepEqual(found(state), [[], []]);
    },
  );
});
