export { type Catalog, createCatalog } from './catalog.ts';
export { type AccountSettings, type ClientRequest, type Exchange, type Reply, readJson } from './exchange.ts';
export type { CallProduct, ProductAnswer, ProductCall } from './product.ts';
export { earlierOf } from './realtime/feed.ts';
export { createLiveClient, type Follower, type LiveClient } from './realtime/live-client.ts';
export { readSubmission } from './realtime/read-submission.ts';
export { failed, Refusal } from './refusal.ts';
export { servePocketBase } from './serve.ts';
