import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkSources } from './check-sources.ts';
import { findBareListeners } from './find-bare-listeners.ts';

/** Listeners whose bytes come from nobody outside, each with its reason. */
const allowed: Readonly<Record<string, string>> = {
  'libs/extension-host/src/runner-process.ts': 'messages of the runner',
  'libs/extension-host/src/worker/runner.ts': 'messages within the runner, which may end',
  'libs/extension-host/src/worker/worker.ts': 'messages within the runner, which may end',
  'libs/pocketbase-move/src/archive/move-process.ts': 'the order for a process, which may end',
  'libs/pocketbase-move/src/archive/start-move.ts': 'messages of the process with the backup',
  'services/gateway/src/upstream/endpoints.ts': 'a connection to a service of the product',
  'services/records/src/inbound-mail/mime/mail-parser.ts': 'messages of the parser',
  'services/records/src/inbound-mail/mime/parser.ts': 'messages within the parser, which may end',
  'services/records/src/files/previews/decoder-process.ts': 'messages of the decoder',
  'services/records/src/files/previews/decoder.ts': 'messages within the decoder, which may end',
};

test('what a client sends is taken by guarded listeners, so that no bytes end a process', () => {
  checkSources({ find: findBareListeners, except: /^libs\/client\//, allowed });
});

test('bare listeners are found in every form', () => {
  assert.deepEqual(findBareListeners(join(import.meta.dirname, '../test/some-listeners.ts')), [9, 10, 11]);
});
