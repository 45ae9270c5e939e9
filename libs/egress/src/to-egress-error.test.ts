import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toEgressError } from './to-egress-error.ts';

const systemError = (code: string, syscall: string) =>
  Object.assign(new Error(`${syscall} ${code} 10.0.0.7:443 - Local (10.0.0.2:51234)`), { code, syscall });

for (const [code, syscall, message] of [
  ['EACCES', 'connect', 'connection not permitted (EACCES)'],
  ['EPERM', 'connect', 'connection not permitted (EPERM)'],
  ['EMFILE', 'connect', 'connect failed (EMFILE)'],
] as const)
  test(`a failed ${syscall} with ${code} tells no addresses`, () => {
    assert.equal(toEgressError(systemError(code, syscall), 1000).message, message);
  });
