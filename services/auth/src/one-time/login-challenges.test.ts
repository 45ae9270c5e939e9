import assert from 'node:assert/strict';
import { test } from 'node:test';
import { challengeLifetimeSec, createLoginChallenges } from './login-challenges.ts';

const secret = new Uint8Array(32).fill(1);

test('a challenge is known to every process with the secret until it expires [auth §4.6]', () => {
  let now = 1_800_000_000;
  const [one, other] = [0, 0].map(() => createLoginChallenges(secret, () => now));
  const issued = one?.issue('users');
  assert.ok(issued);
  assert.deepEqual(other?.read('users', issued.text), issued);
  assert.equal(other?.read('admins', issued.text), undefined);
  now += challengeLifetimeSec - 1;
  assert.deepEqual(one?.read('users', issued.text), issued);
  now += 1;
  assert.equal(one?.read('users', issued.text), undefined);
});

test('another text is none, and so is a challenge by another secret', () => {
  const challenges = createLoginChallenges(secret, () => 1_800_000_000);
  const { text } = challenges.issue('users');
  assert.notEqual(challenges.issue('users').text, text);
  const changed = [...text].map(
    (letter, place) => text.slice(0, place) + (letter === 'A' ? 'B' : 'A') + text.slice(place + 1),
  );
  for (const odd of [
    '',
    text.slice(1),
    `${text}=`,
    ` ${text}`,
    text.replace(/.$/, '\0'),
    'é'.repeat(text.length),
    ...changed,
  ])
    assert.equal(challenges.read('users', odd), undefined, odd);
  const foreign = createLoginChallenges(new Uint8Array(32).fill(2), () => 1_800_000_000);
  assert.equal(foreign.read('users', text), undefined);
});
