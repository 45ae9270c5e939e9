export type { LiveCaller } from './live-caller.ts';
export { livePaths } from './live-paths.ts';
export type { LiveReads, LiveSnapshot, OpenResult } from './live-reads.ts';
export { createLiveReadsClient, writeRefusal } from './live-reads-client.ts';
export type { CrossedCollection, LivePlan, OpenedPlan } from './plan.ts';
export type { LiveRequest, SnapshotRequest } from './requests.ts';
export { liveSchemas } from './schemas.ts';
export type { Callers, EventVerdict, LiveEvent, ShownRecord, Verdicts } from './verdicts.ts';
