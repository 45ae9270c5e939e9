import { urlOf, variable } from '@recordbus/shared/config';

/** Where OneSignal is asked. */
export const onesignalUrl = variable(
  'SERVICE_ONESIGNAL_URL',
  'API of OneSignal.',
  urlOf('http').default('https://api.onesignal.com'),
);

/** Where Firebase Cloud Messaging is asked. */
export const fcmUrl = variable(
  'SERVICE_FCM_URL',
  'API of Firebase Cloud Messaging.',
  urlOf('http').default('https://fcm.googleapis.com'),
);
