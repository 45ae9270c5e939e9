import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase } from '@recordbus/database/testing';
import { removeOldDataJobs } from '../src/data-jobs/data-job-store.ts';
import { skipWithoutDatabase } from './records-fixture.ts';

describe('jobs that ended long ago', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;

  before(async () => {
    temporary = await openTemporaryDatabase();
  });
  after(() => temporary?.remove());

  const add = (kind: string, cause: string, days: number) =>
    temporary.database.query({
      text: `with job as (
          insert into system.data_jobs (id, kind, cause, state, collection_id, collection_name, actor, request, options, finished_at)
          values ($1, $2, $3, 'done', 'c1', 'c1', '{}', '{}', '{}', now() - make_interval(days => $4)) returning id
        )
        insert into system.erased_records (job_id, collection_id, record_id, erased_at)
        select id, 'c1', $3 || ' ' || $4, now() - make_interval(days => $4) from job`,
      values: [newId(), kind, cause, days],
    });

  it('go when no restore repeats them any more, and the stream has nothing about their records [privacy §2.8]', async () => {
    for (const days of [7, 31, 1095, 1097]) {
      await add('erase', 'request', days);
      await add('erase', 'account', days);
      await add('erase', 'retain', days);
    }
    await removeOldDataJobs(temporary.database.query, 30);
    const rows = await temporary.database.query<{ record_id: string; has_messages: boolean }>({
      text: 'select record_id, has_messages from system.erased_records order by 1',
      values: [],
    });
    assert.deepEqual(
      rows.map(({ record_id, has_messages }) => `${record_id}${has_messages ? ' in the stream' : ''}`),
      [
        'account 1095',
        'account 31',
        'account 7 in the stream',
        'request 1095',
        'request 1097',
        'request 31',
        'request 7 in the stream',
        'retain 7 in the stream',
      ],
    );
  });
});
