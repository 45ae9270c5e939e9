import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkSources } from './check-sources.ts';
import { findRepeatingTimers } from './find-repeating-timers.ts';

/** Repeating timers that are not background work, each with its reason. */
const allowed: Readonly<Record<string, string>> = {
  'libs/bus/src/bus-connection.ts': 'the connection itself, on which tasks depend',
  'libs/bus/src/coalesce.ts': 'a pause between notices',
  'libs/database/src/startup/migrate.ts': 'a start that waits for its turn',
  'libs/database/src/reads/read-slots.ts': 'a request that waits for a slot',
  'libs/database/src/startup/run-migrations.ts': 'a migration that waits for tables',
  'libs/database/src/startup/until-reachable.ts': 'a start that waits for the database',
  'libs/egress/src/test-receiver.ts': 'a test that answers slowly',
  'libs/extension-host/src/worker-supply.ts': 'calls that wait for a worker',
  'libs/http/src/slow-clients.ts': 'the time limit of a request',
  'libs/http/src/unread-answers.ts': 'the time limit of answers',
  'libs/stack-calls/src/follow-job.ts': 'a client that waits for a job',
  'libs/stack-calls/src/when-free.ts': 'a client that waits for a busy stack',
  'services/admin/src/schema/schema-changes.ts': 'a request that waits for tables',
  'services/admin/src/webhooks/replay-missing.ts': 'a request that waits for a replay',
  'services/gateway/src/upstream/answer-waits.ts': 'the time limit of requests',
  'services/records/src/files/pending-removal.ts': 'a request that waits for a removal',
  'services/records/src/transfer/export/watched-stream.ts': 'the time limit of an export',
};

test('background work repeats with @recordbus/process/background, not with its own timers', () => {
  checkSources({ find: findRepeatingTimers, except: /^libs\/process\/src\/background\//, allowed });
});

test('repeating timers are found in every form', () => {
  assert.deepEqual(findRepeatingTimers(join(import.meta.dirname, '../test/some-timers.ts')), [3, 6, 10, 14, 19, 27]);
});
