import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { allRoutes } from './declared-routes.ts';

/** Returns the paths to objects within a body whose names a client chooses and that drop a member `__proto__`. */
function droppingRecords(schema: unknown, path: string, seen = new Set<unknown>()): string[] {
  if (!(schema instanceof z.core.$ZodType) || seen.has(schema)) return [];
  seen.add(schema);
  const { def } = schema._zod;
  const inner = Object.entries(def).flatMap(([name, value]) =>
    (name === 'shape' ? Object.entries(value as object) : [['', value] as const]).flatMap(([member, one]) =>
      [one].flat().flatMap((each) => droppingRecords(each, member ? `${path}.${member}` : path, seen)),
    ),
  );
  return def.type === 'record' ? [path, ...inner] : inner;
}

test("no object within a body drops a client's member: mapOf instead of z.record", () => {
  const found = allRoutes().flatMap(({ method, paths, body }) => {
    const name = `${method} ${paths.at(-1)}`;
    // The dispatcher refuses the member at a body's top.
    return body ? droppingRecords(body, name).filter((path) => path !== name) : [];
  });
  assert.deepEqual(found, []);
});

test('it would find one', () => {
  const body = z.strictObject({ a: z.object({ b: z.record(z.string(), z.string()).optional() }).default({}) });
  assert.deepEqual(droppingRecords(body, 'POST /x'), ['POST /x.a.b']);
});
