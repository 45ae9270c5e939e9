export { createIdempotencyKeys } from './idempotency-keys.ts';
export { isKeyUsed, keepInStatement } from './keep-in-statement.ts';
