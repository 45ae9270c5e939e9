import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { type Caller, runScenarios, type Scenario } from '../harness/scenario.ts';
import { onEachTopology } from '../harness/target.ts';

const closedRules = { list_rule: '', view_rule: '', create_rule: '', update_rule: '', delete_rule: '' };

onEachTopology('null is public, the empty string is for admins', async (t, target) => {
  const admin = await target.admin();
  const fields = [{ name: 'title', type: 'text' }];
  await admin.post('/api/v1/collections', { name: 'closed', type: 'base', fields, ...closedRules });
  await admin.post('/api/v1/collections', { name: 'open', type: 'base', fields });
  const closed = await admin.create('closed', { title: 'x' });
  const everyCall = (collection: string, id: string, as: Caller, expect: Scenario['expect']): Scenario[] =>
    [
      `GET /api/v1/${collection}`,
      `GET /api/v1/${collection}/${id}`,
      `POST /api/v1/${collection}`,
      `PATCH /api/v1/${collection}/${id}`,
      `DELETE /api/v1/${collection}/${id}`,
    ].map((request) => ({
      name: `${as}: ${request.replace(id, ':id')}`,
      as,
      request,
      ...(/^(POST|PATCH)/.test(request) && { body: { title: 'y' } }),
      expect,
      spec: 'contract §1',
    }));
  const works = async (collection: string, as: Caller): Promise<Scenario[]> => {
    const { id } = await admin.create(collection, { title: 'x' });
    const events: Record<string, readonly string[]> = {
      POST: [`${collection}.create`],
      PATCH: [`${collection}.update`],
      DELETE: [`${collection}.delete`],
    };
    return everyCall(collection, id, as, { status: 200 }).map((row) => {
      const [method = ''] = row.request.split(' ');
      return { ...row, expect: { status: method === 'POST' ? 201 : 200 }, events: events[method] ?? [] };
    });
  };
  await runScenarios(t, target, [
    ...everyCall('closed', closed.id, 'guest', refused.forbidden),
    ...everyCall('closed', closed.id, 'user', refused.forbidden),
    ...(await works('closed', 'admin')),
    ...(await works('open', 'guest')),
    ...(await works('open', 'user')),
    {
      name: 'a token that is no good is told to be none',
      request: `GET /api/v1/closed/${closed.id}`,
      headers: { Authorization: 'Bearer expired.or.forged' },
      expect: refused.unauthenticated,
      spec: 'contract §1',
    },
    {
      name: 'on a public collection such a token does no harm',
      request: 'GET /api/v1/open',
      headers: { Authorization: 'Bearer expired.or.forged' },
      expect: { status: 200, json: is.containing({ page: 1 }) },
      spec: 'contract §1',
    },
    {
      name: 'who may not create is told so before the body is looked at',
      request: 'POST /api/v1/closed',
      body: { colour: 'red' },
      expect: refused.forbidden,
      spec: 'contract §2',
    },
    {
      name: 'and before it is known whether the record exists',
      request: 'GET /api/v1/closed/01980000-0000-7000-8000-00000000dead',
      expect: refused.forbidden,
      spec: 'contract §2',
    },
  ]);
});
