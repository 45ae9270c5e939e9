export { type BackgroundTask, every, type OnDemandTask, skipped, whenWoken } from './background-task.ts';
export { checkTasks } from './check-tasks.ts';
export { type FollowedCopy, followedCopy } from './followed-copy.ts';
export { heartbeat } from './heartbeat.ts';
export { healthOfTasks } from './running-tasks.ts';
export { createSharedRefresh } from './shared-refresh.ts';
export type { TaskHealth } from './task-health.ts';
