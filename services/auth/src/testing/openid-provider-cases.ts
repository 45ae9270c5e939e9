import type { OauthProviderName } from '@recordbus/settings';
import { UnsecuredJWT } from 'jose';
import { ann, annWith, type ProviderCase, withoutEmail } from './provider-case.ts';

const idToken = (claims: Record<string, unknown>) => ({ id_token: new UnsecuredJWT(claims).encode() });
const microsoftMe = { json: { id: 'oid-1', displayName: 'Ann', mail: ann, userPrincipalName: ann } };

/** The providers that speak OpenID Connect. The answers have the shapes in the providers' references. */
export const openidProviderCases = {
  google: {
    authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth?scope=openid%20email%20profile',
    token: { url: 'https://oauth2.googleapis.com/token', proof: 'form' },
    answers: {
      'GET https://openidconnect.googleapis.com/v1/userinfo': {
        json: { sub: '10769150350006150715113082367', name: 'Ann', email: ann, email_verified: true, locale: 'en' },
      },
    },
    identity: annWith('10769150350006150715113082367'),
  },
  microsoft: {
    authorizeUrl:
      'https://login.microsoftonline.com/common/oauth2/v2.0/authorize?scope=openid%20profile%20email%20User.Read',
    token: { url: 'https://login.microsoftonline.com/common/oauth2/v2.0/token', proof: 'form' },
    answers: { 'GET https://graph.microsoft.com/v1.0/me': microsoftMe },
    tokenMembers: idToken({ oid: 'oid-1', email: ann, xms_edov: true }),
    identity: annWith('oid-1'),
    variants: [
      ['an address that only the tenant claims', { tokenMembers: idToken({ email: ann }) }, withoutEmail('oid-1')],
      [
        'an address of an unverified domain',
        { tokenMembers: idToken({ email: ann, xms_edov: '0' }) },
        withoutEmail('oid-1'),
      ],
      [
        'an address that is listed as verified',
        { tokenMembers: idToken({ email: ann, verified_primary_email: [ann] }) },
        annWith('oid-1'),
      ],
      [
        'another listed address',
        { tokenMembers: idToken({ email: ann, verified_primary_email: ['x@y.z'] }) },
        withoutEmail('oid-1'),
      ],
      ['an invalid id token', { tokenMembers: { id_token: 'x.y' } }, withoutEmail('oid-1')],
    ],
  },
  linkedin: {
    authorizeUrl: 'https://www.linkedin.com/oauth/v2/authorization?scope=openid%20profile%20email',
    token: { url: 'https://www.linkedin.com/oauth/v2/accessToken', proof: 'form' },
    answers: {
      'GET https://api.linkedin.com/v2/userinfo': {
        json: { sub: '782bbtaQ', name: 'Ann', locale: 'en-US', email: ann, email_verified: 'true' },
      },
    },
    identity: annWith('782bbtaQ'),
  },
  slack: {
    authorizeUrl: 'https://slack.com/openid/connect/authorize?scope=openid%20profile%20email',
    token: { url: 'https://slack.com/api/openid.connect.token', proof: 'form' },
    tokenMembers: { ok: true },
    answers: {
      'GET https://slack.com/api/openid.connect.userInfo': {
        json: {
          ok: true,
          sub: 'U0R7JM',
          'https://slack.com/user_id': 'U0R7JM',
          'https://slack.com/team_id': 'T0R7GR',
          email: ann,
          email_verified: true,
        },
      },
    },
    identity: annWith('T0R7GR.U0R7JM'),
  },
  oidc: {
    settings: {
      'oauth2.oidc.authorization_url': 'https://id.example.com/auth?tenant=9&state=fixed',
      'oauth2.oidc.token_url': 'https://id.example.com/token',
      'oauth2.oidc.userinfo_url': 'https://id.example.com/me',
      'oauth2.oidc.scopes': 'openid email',
      'oauth2.oidc.display_name': 'Company login',
    },
    authorizeUrl: 'https://id.example.com/auth?tenant=9&scope=openid%20email',
    token: { url: 'https://id.example.com/token', proof: 'basic' },
    answers: { 'GET https://id.example.com/me': { json: { sub: 'a|1', email: ann, email_verified: true } } },
    identity: annWith('a|1'),
    variants: [
      [
        'a text that is not an address',
        { answers: { 'GET https://id.example.com/me': { json: { sub: 'a', email: 'ann', email_verified: true } } } },
        withoutEmail('a'),
      ],
    ],
  },
} satisfies Partial<Record<OauthProviderName, ProviderCase>>;
