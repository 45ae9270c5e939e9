export { createIdempotencyKeys } from './idempotency-keys.ts';
