export { z } from 'zod';
export type { Caller } from './caller.ts';
export {
  type CollectionDefinition,
  defineCollection,
  type FieldDefinition,
  fieldTypeNames,
  type IndexDefinition,
} from './collection.ts';
export { type Cron, cron } from './cron.ts';
export { type CustomEvent, defineEvent } from './event.ts';
export { defineExtension, type Extension } from './extension.ts';
export { filter } from './filter.ts';
export type {
  AfterHook,
  AfterSignIn,
  AfterUpdateHook,
  BeforeHook,
  BeforeSignIn,
  CollectionHooks,
  RecordEvent,
  SignIn,
  SignInAttempt,
  SignInFlow,
  SignInHooks,
  UpdateEvent,
  Write,
} from './hooks.ts';
export type { IncomingAttachment, IncomingMail, MailAddress, MailHook } from './incoming-mail.ts';
export { type Job, type JobRun, job } from './job.ts';
export type * from './job-types.ts';
export { Refusal, refuse } from './refusal.ts';
export { Reply, type Route, type RouteRequest, reply, route } from './route.ts';
export type { AnyCollection, AnySchema, CollectionTypes, SchemaOf } from './schema.ts';
export type {
  BatchOperation,
  BatchResult,
  Fetched,
  FetchOptions,
  HandlerTools,
  JobOptions,
  JobQueue,
  KeyValueStore,
  ListOptions,
  Log,
  MailAttachment,
  Mailer,
  Notification,
  NotificationResult,
  OutgoingMail,
  Page,
  RecordData,
  Records,
  Reference,
  Tools,
} from './tools.ts';
