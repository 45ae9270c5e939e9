export { eraseAnswers } from './erase-answers.ts';
export { createIdempotencyKeys } from './idempotency-keys.ts';
export { isKeyUsed, keptAnswer, keyValuesOf, type UnusedKeyValues, withKept } from './keep-in-statement.ts';
