export { type Cidr, findCidr, parseCidrList, validateCidrList } from './cidr.ts';
export {
  createEgressClient,
  type EgressClient,
  type EgressClientOptions,
  type EgressRequestOptions,
} from './egress-client.ts';
export { EgressBlockedError, EgressFailedError } from './egress-error.ts';
export {
  checkAddress,
  DEFAULT_DENY,
  type DeniedAddress,
  type EgressRules,
  parseEgressRules,
  validateDenyList,
} from './egress-rules.ts';
export type { EgressResponse } from './exchange.ts';
export { type Address, isIPv4Mapped, parseAddress, toIPv4 } from './parse-address.ts';
export { type CheckedTarget, checkUrl, type LookupAll } from './resolve-target.ts';
