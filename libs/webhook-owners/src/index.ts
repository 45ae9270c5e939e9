export { judgeOwners, type OwnedChange } from './judge-owners.ts';
export { type OwnersDeps, readCurrentRules } from './owned-webhooks.ts';
export { ownerBody, shareOf } from './owner-body.ts';
export { type Admitted, recheck, type WaitingDelivery } from './recheck.ts';
export { readChange } from './record-change.ts';
