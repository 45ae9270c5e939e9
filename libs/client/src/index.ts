export type { AdminAccount, UserAccount, UserDetails } from './admin/account-types.ts';
export type { Admin, AdminMfaRequired, SignedInAdmin } from './admin/admin.ts';
export type { Backup, Restore } from './admin/backups.ts';
export type {
  CollectionDefinition,
  CollectionValues,
  FieldDefinition,
  IndexDefinition,
  RuleTrial,
  RuleVerdict,
  SchemaChange,
  SchemaFiles,
  SchemaLock,
  SchemaPlan,
  SchemaSnapshot,
  ViewPreview,
} from './admin/collection-types.ts';
export type {
  DeliverySummary,
  EventDelivery,
  EventDeliveryDetails,
  EventFilter,
  RequestSummary,
  SpanOptions,
  StoredEvent,
  StoredEventDetails,
} from './admin/events.ts';
export type { ExtensionJob, ExtensionJobDetails } from './admin/extension-jobs.ts';
export type { Erasure, ErasureCertificate, Job } from './admin/jobs.ts';
export type { ServiceKey, ServiceKeyValues } from './admin/keys.ts';
export type { LoggedMail, MailDetails } from './admin/mails.ts';
export type { ListedMove, Move, MoveChoices, MoveReport } from './admin/moves.ts';
export type {
  AuditFilter,
  AuditRow,
  Cron,
  CronRun,
  LogFilter,
  LogRow,
  Metric,
  Readiness,
  SettingDescription,
  SettingGroup,
} from './admin/operation-types.ts';
export type { SavedView, SavedViewValues } from './admin/saved-views.ts';
export type { SecondFactorStatus } from './admin/second-factor.ts';
export type {
  CatalogueEvent,
  Delivery,
  DeliveryFilter,
  NewWebhookValues,
  OpenedPortal,
  PolledEvents,
  PortalLink,
  PortalLinkValues,
  PortalTheme,
  Webhook,
  WebhookOwner,
  WebhookStatus,
  WebhookValues,
  WebhookWithKey,
} from './admin/webhook-types.ts';
export type { OwnedWebhooks, PolledPlace } from './admin/webhooks.ts';
export type { Accounts, CaptchaOptions, Credentials } from './auth/accounts.ts';
export type { OAuth, OAuthLink, OAuthStart } from './auth/oauth.ts';
export type { OwnAccount, OwnData, OwnDataJob, PasswordProof, SessionRow, Sessions } from './auth/own-account.ts';
export type { Passkey, PasskeyCeremony, PasskeyCredential, Passkeys } from './auth/passkeys.ts';
export type {
  EnrollmentRequired,
  Factor,
  MergeRequired,
  MfaRequired,
  Profile,
  SignedIn,
  SignIn,
  SignUp,
} from './auth/sign-in.ts';
export type { Batch, BatchCollection, DeleteOperation, Operation, Reference, Results } from './batch/operations.ts';
export { type Client, type ClientOptions, createClient, type Health } from './create-client.ts';
export { type Conflict, isConflict, RecordbusError } from './error.ts';
export type { Progress } from './exchange.ts';
export { Filter, f } from './filter/filter.ts';
export type { Value } from './filter/literal.ts';
export type {
  Change,
  ChannelMessage,
  LiveConnection,
  LiveList,
  LiveOptions,
  SubscribeOptions,
  Subscription,
} from './live/types.ts';
export type { Collection, Subject, UpsertTarget } from './records/collection.ts';
export type { FileOptions, FileToken, StoredFile } from './records/files.ts';
export type {
  AggregateOptions,
  ChangeOptions,
  HistoryRow,
  ListOptions,
  Near,
  Page,
  PageOptions,
  RestorePoint,
  SelectOptions,
  WriteOptions,
} from './records/options.ts';
export type {
  Found,
  SearchAnswers,
  SearchMembers,
  SearchOptions,
  SearchPage,
  SearchQuery,
  SearchRefusal,
} from './records/search.ts';
export type { ExportOptions, ImportOptions } from './records/transfer.ts';
export type { SessionKeeper } from './session/keeper.ts';
export { localStorageStore, memoryStore, type Session, type SessionStore } from './session/session.ts';
export type { Call, CallOptions, Reply, Transport } from './transport.ts';
export type { Expanded, ExpandPath } from './types/expand.ts';
export type { FileDetails, FilesMember } from './types/fields.ts';
export type { FilterFields, FilterOf, Tests } from './types/filter-fields.ts';
export type { RouteAnswer, RouteInput, RoutesOf, RouteTypes } from './types/routes.ts';
export type {
  AnyRecord,
  AnySchema,
  AnyValues,
  CollectionName,
  CollectionTypes,
  CreateOf,
  ExpandOf,
  RecordOf,
  SchemaOf,
  UpdateOf,
} from './types/schema.ts';
