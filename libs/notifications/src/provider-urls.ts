import { urlOf, variable } from '@recordbus/shared/config';

/** The API of OneSignal. */
export const onesignalUrl = variable(
  'SERVICE_ONESIGNAL_URL',
  'OneSignal API.',
  urlOf('http').default('https://api.onesignal.com'),
);

/** The API of Firebase Cloud Messaging. */
export const fcmUrl = variable(
  'SERVICE_FCM_URL',
  'Firebase Cloud Messaging API.',
  urlOf('http').default('https://fcm.googleapis.com'),
);
