import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '@recordbus/testing';
import { skip, startTestAdmin } from '../../test/test-admin.ts';

test('audit rows are deleted after their retention [admins §6.7]', { skip }, async () => {
  const admin = await startTestAdmin();
  try {
    const actions = async () =>
      (
        await admin.database.query<{ action: string }>({
          text: 'select action from system.audit order by action',
          values: [],
        })
      ).map(({ action }) => action);
    await admin.database.query({
      text: `insert into system.audit (id, at, action, actor_type)
        select action, extract(epoch from now()) - days * 86400, action, 'guest'
        from (values ('of 11 days', 11), ('of 9 days', 9), ('of now', 0)) as given (action, days)`,
      values: [],
    });
    const answer = await admin.call('PATCH', '/api/v1/admin/settings', { 'audit.retention_days': '10' });
    assert.equal(answer.status, 200);
    await eventually(async () => !(await actions()).includes('of 11 days'));
    assert.deepEqual(await actions(), ['of 9 days', 'of now', 'settings.update']);
  } finally {
    await admin.stop();
  }
});
