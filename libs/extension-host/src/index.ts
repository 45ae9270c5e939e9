export type { ExtensionsConfig } from './config.ts';
export {
  type AfterPoint,
  type BeforePoint,
  type CallTarget,
  type CronDescription,
  type EventDescription,
  type ExtensionDescription,
  everyCollection,
  type JobDescription,
  mailJob,
  nameOfTarget,
  type RouteDescription,
} from './description.ts';
export { createExtensionHost, type ExtensionHost } from './extension-host.ts';
export type { AnswerAsk, ExtensionWorker } from './extension-worker.ts';
export type { ExtensionProblem, LoadedExtension } from './load-directory.ts';
export type { JobRunInput, MailInput, RouteInput, RouteOutput } from './worker/invoke.ts';
