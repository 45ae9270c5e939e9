import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { holdsForKind } from '../index.ts';

const user = { type: 'user', collection: 'members' };
const key = { type: 'service' };

describe('a rule that holds for every caller of a kind', () => {
  const rules: readonly (readonly [rule: string, forUser: boolean, forKey: boolean])[] = [
    ['@request.auth.id != ""', true, true],
    ['"" != @request.auth.id', true, true],
    ['@request.auth.id = ""', false, false],
    ['not (@request.auth.id = "")', true, true],
    ['@request.auth.type = "user"', true, false],
    ['@request.auth.type != "user"', false, true],
    ['@request.auth.collection = "members"', true, false],
    ['@request.auth.collection != "others"', true, false],
    ['@request.auth.id != "" && @request.auth.type = "user"', true, false],
    ['@request.auth.type = "user" || @request.auth.type = "service"', true, true],
    ['@request.auth.type in ("user", "service")', false, false],
    ['@request.auth.id != "a"', false, false],
    ['@request.auth.id:length != ""', false, false],
    ['@request.auth.verified = true', false, false],
    ['@request.auth.id != "" && status = "open"', false, false],
    ['@request.auth.id != "" || status = "open"', false, false],
    ['@request.auth.id != "" || nothing.at.all = 1', false, false],
    ['@request.auth.id != title', false, false],
    ['@request.query.id != ""', false, false],
    ['@request.auth.id ~ ""', false, false],
    ['@request.auth.id !=', false, false],
  ];
  for (const [rule, forUser, forKey] of rules)
    it(rule, () => assert.deepEqual([holdsForKind(rule, user), holdsForKind(rule, key)], [forUser, forKey]));
});
