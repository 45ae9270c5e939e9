export { type BackgroundTask, every, type OnDemandTask, skipped, whenWoken } from './background-task.ts';
export { type FollowedCopy, followedCopy } from './followed-copy.ts';
export { heartbeat } from './heartbeat.ts';
export type { TaskHealth } from './task-health.ts';
