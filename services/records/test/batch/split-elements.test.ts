import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseOperations } from '../../src/batch/parse-operations.ts';

async function parse(text: string, most = 1000): Promise<unknown> {
  const body = await parseOperations(Buffer.from(text), most);
  const operations: unknown = Reflect.get(Object(body), 'operations');
  if (!Array.isArray(operations)) return body;
  return { ...Object(body), operations: operations.map(({ value }) => value) };
}

describe("a batch's body", () => {
  it('is parsed as by JSON.parse', async () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const body = fc.record({ operations: fc.array(value), a: value, b: value });
    const property = fc.asyncProperty(body, fc.nat(3), async (given, space) => {
      const text = JSON.stringify(given, undefined, space);
      assert.deepEqual(await parse(text), JSON.parse(text));
    });
    await fc.assert(property, { numRuns: 300, seed: 1 });
  });

  const same = [
    '{"operations":[]}',
    '{"operations":[ \n ]}',
    '{"a":"operations","operations":["]","\\"],["]}',
    '{"operations":{"operations":[1]}}',
    '{"a":{"operations":[1,2]},"operations":[3]}',
    '{"a":[{"operations":[1,2]}]}',
    '[["operations",[1]]]',
    '"operations"',
  ];
  for (const text of same)
    it(`${text} is that value`, async () => assert.deepEqual(await parse(text), JSON.parse(text)));

  const wrong = [
    '{"operations":[1,]}',
    '{"operations":[,]}',
    '{"operations":[1 2]}',
    '{"operations":[1}',
    '{"operations":[{]}',
    '{"operations":[1]',
    '{"operations" [1]}',
    '{"operations":[1]}}',
    '{"operations":[1],"operations":[2]}',
    '{"\\u006fperations":[1]}',
    ']',
  ];
  for (const text of wrong)
    it(`${text} is 400`, () => assert.rejects(parse(text), (error) => Reflect.get(Object(error), 'status') === 400));

  it('may not have more operations than the limit', async () => {
    assert.deepEqual(await parse('{"operations":[1,2]}', 2), { operations: [1, 2] });
    await assert.rejects(parse('{"operations":[1,2,3]}', 2), (error) => {
      const { status, details } = error as { readonly status: number; readonly details: object };
      return status === 422 && Reflect.get(details, 'index') === 2;
    });
  });
});
