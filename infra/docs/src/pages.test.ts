import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDescribed } from '@recordbus/http';
import { declaredRoutes } from './declared-routes.ts';
import { readPages } from './pages.ts';

for (const { file, written, current } of readPages()) {
  test(`docs/${file} is current`, () => {
    assert.ok(written === current, `docs/${file} is out of date: npm run docs updates it`);
  });
}

test('every route declares its answers', () => {
  const silent = declaredRoutes().flatMap(({ method, paths, answers }) =>
    Object.entries(answers)
      .filter(([status, answer]) => !isDescribed(Number(status), answer))
      .map(([status]) => `${method} ${paths[0]} does not say what the body of its ${status} is`),
  );
  assert.deepEqual(silent, [], 'CONTRIBUTING.md, "Adding a route", says how an answer is declared');
});
