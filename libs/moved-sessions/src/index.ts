export { type GivenKey, storeKeys } from './account-keys.ts';
export { createIdentify, type Identified, type Identify } from './identify.ts';
export { createMovedTokens, type MovedTokens, type TokenOrigin } from './moved-tokens.ts';
