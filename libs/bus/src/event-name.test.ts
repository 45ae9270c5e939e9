import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findEventNameProblem } from './event-name.ts';

describe("an event's name", () => {
  for (const name of ['posts.create', 'a b', 'größe.📦', '>', '..', 'a.', '.', '=20', '"\\', '🎉'.repeat(127)])
    it(`may be ${JSON.stringify(name).slice(0, 40)}`, () => assert.equal(findEventNameProblem(name), undefined));

  const refused: [name: string, problem: RegExp][] = [
    ['', /empty/],
    [' \t', /empty/],
    ['a'.repeat(256), /at most 255/],
    ['a\nb', /control/],
    ['a\u0000', /control/],
    ['a\u0085b', /control/],
    ['\ud800', /text/],
    [' a', /space/],
    ['a\u00a0', /space/],
    ['*', /star/],
    ['a*b', /star/],
    ['posts.*', /star/],
  ];
  for (const [name, problem] of refused)
    it(`cannot be ${JSON.stringify(name).slice(0, 40)}`, () =>
      assert.match(findEventNameProblem(name) ?? 'the name is valid', problem));
});
