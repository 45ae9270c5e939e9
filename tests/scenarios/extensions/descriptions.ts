import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { find } from '../../fuzz/operations.ts';
import { at, objectAt, textAt } from '../../harness/json.ts';
import { differences, is } from '../../harness/matching.ts';
import type { Target } from '../../harness/stacks/target.ts';

/** Every API document reader sees extension routes, with the callers that they admit. */
export async function descriptions(t: TestContext, target: Target): Promise<void> {
  const callers = { guest: target.guest, user: await target.user(), admin: await target.admin() };
  for (const [name, caller] of Object.entries(callers))
    await t.test(`a ${name} reads a route's requests, answers and callers [extensions §4.1]`, async () => {
      const { json } = await caller.get('/api/v1/openapi.json');
      const paths = objectAt(json, 'paths');
      const schemas = objectAt(json, 'components.schemas');
      const componentOf = (part: unknown) =>
        schemas[textAt(find(part, ['content', 'application/json', 'schema']), '$ref').replace(/^.*\//, '')];
      const quotes = objectAt(paths['/api/x/shop/quotes/{item}'], 'post');
      assert.deepEqual(
        differences(
          quotes,
          is.containing({
            summary: 'What an amount of an item costs',
            security: [{}, { user: [] }, { admin: [] }, { key: ['admin'] }],
            parameters: is.listWith(is.containing({ name: 'item', in: 'path', required: true })),
          }),
        ),
        [],
      );
      const amount = is.containing({ type: 'number', exclusiveMinimum: 0 });
      const body = is.containing({ required: ['amount'], properties: { amount } });
      assert.deepEqual(differences(componentOf(quotes.requestBody), body), []);
      const currency = is.containing({ schema: is.containing({ enum: ['EUR', 'USD'] }), in: 'query' });
      assert.deepEqual(differences(quotes.parameters, is.listWith(currency)), []);
      const data = is.containing({ required: ['price', 'currency'] });
      const answer = is.containing({ properties: is.containing({ data }) });
      assert.deepEqual(differences(componentOf(objectAt(quotes, 'responses.200')), answer), []);
      const securityOf = (path: string) => at(paths[`/api/x/shop/${path}`], 'get.security');
      assert.deepEqual(securityOf('me'), [{ user: [] }, { admin: [] }, { key: ['admin'] }]);
      assert.deepEqual(securityOf('admins'), [{ admin: [] }, { key: ['admin'] }]);
    });
}
