export { type Notification, type NotificationResult, notificationSchema, type TargetResult } from './notification.ts';
export { createNotifier, type Notifier, type NotifierDeps } from './notifier.ts';
