import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { urlsOfDatabase } from './database-urls.ts';

describe("a database's URL", () => {
  for (const [text, expected] of [
    ['postgres://u:p@a:5433/db', ['postgres://u:p@a:5433/db']],
    ['postgresql:///db?host=/run/postgresql', ['postgresql:///db?host=/run/postgresql']],
    [
      'postgres://u:p%2C@a:1,b:2/db?sslmode=require',
      ['postgres://u:p%2C@a:1/db?sslmode=require', 'postgres://u:p%2C@b:2/db?sslmode=require'],
    ],
    ['postgres://u:p,q@a, b/db', ['postgres://u:p,q@a/db', 'postgres://u:p,q@b/db']],
    ['postgres://[::1]:5432,[::2]:5432/db', ['postgres://[::1]:5432/db', 'postgres://[::2]:5432/db']],
    ['postgres://a:1,b:2/db?target_session_attrs=read-write&x=1', ['postgres://a:1/db?x=1', 'postgres://b:2/db?x=1']],
    ['postgres://a:1/db?target_session_attrs=primary', ['postgres://a:1/db']],
  ] as const)
    it(`${text} names ${expected.length}`, () => assert.deepEqual(urlsOfDatabase(text), expected));

  for (const text of [
    'mysql://a/db',
    'postgres://a:1,b:x/db',
    'postgres://a,,b/db',
    'postgres://a,/db',
    'postgres://,a/db',
    'postgres://a,b/db?target_session_attrs=standby',
    'postgres://a/db?target_session_attrs=any',
    `postgres://${'a,'.repeat(10_000)}a/db`,
    'a,b',
  ])
    it(`${text.slice(0, 60)} is refused`, () => assert.equal(urlsOfDatabase(text), undefined));
});
