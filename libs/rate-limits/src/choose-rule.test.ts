import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fixedSettings } from '@recordbus/settings/testing';
import { createChooseRule } from './choose-rule.ts';

const posts = ['/api/posts', '/api/v1/posts', '/api/v1/records/posts'];

/** Chooses among rules given as `label` or `label audience`. */
function choose(labels: readonly string[], request: Parameters<ReturnType<typeof createChooseRule>>[0]) {
  const rules = labels.map((text) => {
    const [label, audience = 'all'] = text.split(' ');
    return { label, audience, max: 1, windowMs: 1 };
  });
  const settings = fixedSettings({ 'rate_limit.rules': JSON.stringify(rules) });
  const chosen = createChooseRule(settings.get('rate_limit.rules'))(request);
  return chosen && `${chosen.label} ${chosen.audience}`;
}

describe('the rule that applies [http §8.5, §8.6]', () => {
  const list = { paths: posts, action: 'list', audience: 'guest' } as const;
  const cases: readonly (readonly [name: string, labels: string[], request: object, chosen: string | undefined])[] = [
    ['no rule, when none matches', ['/api/v1/other', '*:create'], {}, undefined],
    ['an action before no action', ['/api/v1/posts', '*:list'], {}, '*:list all'],
    ['an exact path before the longest prefix', ['/api/v1/*', '/api/v1/posts', '*'], {}, '/api/v1/posts all'],
    ['the longest prefix before a shorter one', ['*', '/api/*', '/api/v1/*'], {}, '/api/v1/* all'],
    ['any prefix before the wildcard', ['*', '/api/*'], {}, '/api/* all'],
    ['a prefix covers its own path', ['/api/v1/posts/*'], {}, '/api/v1/posts/* all'],
    ['a prefix ends at a segment', ['/api/v1/po/*'], {}, undefined],
    ['an exact path does not cover paths below it', ['/api/v1'], {}, undefined],
    ['a rule on one record path covers all three', ['/api/v1/records/posts'], {}, '/api/v1/records/posts all'],
    ['guests before all', ['*', '* guest'], {}, '* guest'],
    ['tokens before all', ['* auth', '*'], { audience: 'auth' }, '* auth'],
    ['a rule for tokens does not match guests', ['* auth'], {}, undefined],
    ['a more specific label before the audience', ['* guest', '/api/*'], {}, '/api/* all'],
    ['a request without an action matches no rule with one', ['*:list'], { action: undefined }, undefined],
    ['the label of a key before all others', ['#ci', '/api/v1/posts:list'], { label: 'ci' }, '#ci all'],
    ['rules for the label of a key do not match other callers', ['#ci', '*'], {}, '* all'],
    ['rules for the label of another key do not match', ['#cd', '*'], { label: 'ci' }, '* all'],
    [
      'the order in the setting does not matter',
      ['/api/v1/posts:list', '*:list guest', '*'],
      {},
      '/api/v1/posts:list all',
    ],
  ];
  for (const [name, labels, more, chosen] of cases)
    test(name, () => assert.equal(choose(labels, { ...list, ...more }), chosen));
});
