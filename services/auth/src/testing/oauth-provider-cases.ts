import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { OauthProviderName } from '@recordbus/settings';
import { ann, annWith, clientId, clientSecret, type ProviderCase, withoutEmail } from './provider-case.ts';

/** The providers with their own profile endpoint. The answers have the shapes in the providers' references. */
export const oauthProviderCases = {
  github: {
    authorizeUrl: 'https://github.com/login/oauth/authorize?scope=read%3Auser%20user%3Aemail',
    token: { url: 'https://github.com/login/oauth/access_token', proof: 'form' },
    answers: {
      'GET https://api.github.com/user': { json: { login: 'ann', id: 583231, email: null, name: 'Ann' } },
      'GET https://api.github.com/user/emails': {
        json: [
          { email: 'other@example.com', primary: false, verified: true, visibility: null },
          { email: ann, primary: true, verified: true, visibility: 'private' },
        ],
      },
    },
    identity: annWith('583231'),
    variants: [
      [
        'a primary address that is unverified',
        {
          answers: {
            'GET https://api.github.com/user/emails': { json: [{ email: ann, primary: true, verified: false }] },
          },
        },
        withoutEmail('583231'),
      ],
      [
        'no right to read the addresses',
        { answers: { 'GET https://api.github.com/user/emails': { status: 403, json: { message: 'Forbidden' } } } },
        withoutEmail('583231'),
      ],
    ],
    checkRequest: ({ 'user-agent': agent }) => assert.equal(agent, 'Recordbus'),
  },
  gitlab: {
    settings: { 'oauth2.gitlab.endpoint': 'https://git.example.com/sub/' },
    authorizeUrl: 'https://git.example.com/sub/oauth/authorize?scope=read_user',
    token: { url: 'https://git.example.com/sub/oauth/token', proof: 'form' },
    answers: {
      'GET https://git.example.com/sub/api/v4/user': {
        json: { id: 7, username: 'ann', email: ann, state: 'active', confirmed_at: '2012-05-23T09:05:22Z' },
      },
    },
    identity: annWith('7'),
    variants: [
      [
        'an address that is not confirmed',
        {
          answers: {
            'GET https://git.example.com/sub/api/v4/user': { json: { id: 7, email: ann, confirmed_at: null } },
          },
        },
        withoutEmail('7'),
      ],
    ],
  },
  facebook: {
    authorizeUrl: 'https://www.facebook.com/dialog/oauth?scope=email%20public_profile',
    token: { url: 'https://graph.facebook.com/oauth/access_token', proof: 'form' },
    answers: { 'GET https://graph.facebook.com/me': { json: { id: '10150000000000001', email: ann } } },
    identity: withoutEmail('10150000000000001'),
    checkRequest: (_headers, url) => {
      const proof = createHmac('sha256', clientSecret).update('the-token').digest('hex');
      assert.equal(new URL(url).search, `?fields=id,email,name,picture.type(large)&appsecret_proof=${proof}`);
    },
  },
  discord: {
    authorizeUrl: 'https://discord.com/oauth2/authorize?scope=identify%20email',
    token: { url: 'https://discord.com/api/oauth2/token', proof: 'form' },
    answers: {
      'GET https://discord.com/api/users/@me': {
        json: { id: '80351110224678912', username: 'ann', global_name: null, verified: true, email: ann },
      },
    },
    identity: annWith('80351110224678912'),
    variants: [
      [
        'an unverified address',
        { answers: { 'GET https://discord.com/api/users/@me': { json: { id: '8', verified: false, email: ann } } } },
        withoutEmail('8'),
      ],
    ],
  },
  twitch: {
    authorizeUrl: 'https://id.twitch.tv/oauth2/authorize?scope=user%3Aread%3Aemail',
    token: { url: 'https://id.twitch.tv/oauth2/token', proof: 'form' },
    tokenMembers: { scope: ['user:read:email'], expires_in: 14124 },
    answers: {
      'GET https://api.twitch.tv/helix/users': { json: { data: [{ id: '141981764', login: 'ann', email: ann }] } },
    },
    identity: annWith('141981764'),
    variants: [
      [
        'no address',
        { answers: { 'GET https://api.twitch.tv/helix/users': { json: { data: [{ id: '1' }] } } } },
        withoutEmail('1'),
      ],
    ],
    checkRequest: ({ 'client-id': id }) => assert.equal(id, clientId),
  },
  spotify: {
    authorizeUrl: 'https://accounts.spotify.com/authorize?scope=user-read-email',
    token: { url: 'https://accounts.spotify.com/api/token', proof: 'basic' },
    answers: { 'GET https://api.spotify.com/v1/me': { json: { id: 'smedjan', email: ann, type: 'user' } } },
    identity: withoutEmail('smedjan'),
  },
  bitbucket: {
    authorizeUrl: 'https://bitbucket.org/site/oauth2/authorize?scope=account%20email',
    token: { url: 'https://bitbucket.org/site/oauth2/access_token', proof: 'basic' },
    answers: {
      'GET https://api.bitbucket.org/2.0/user': {
        json: { type: 'user', uuid: '{d301aafa-d676}', display_name: 'Ann' },
      },
      'GET https://api.bitbucket.org/2.0/user/emails': {
        json: {
          values: [
            { email: 'other@example.com', is_primary: false, is_confirmed: true },
            { email: ann, is_primary: true, is_confirmed: true },
          ],
        },
      },
    },
    identity: annWith('{d301aafa-d676}'),
    variants: [
      [
        'a primary address that is not confirmed',
        {
          answers: {
            'GET https://api.bitbucket.org/2.0/user/emails': {
              json: { values: [{ email: ann, is_primary: true, is_confirmed: false }] },
            },
          },
        },
        withoutEmail('{d301aafa-d676}'),
      ],
    ],
  },
  notion: {
    authorizeUrl: 'https://api.notion.com/v1/oauth/authorize?owner=user',
    token: { url: 'https://api.notion.com/v1/oauth/token', proof: 'basic_json' },
    tokenMembers: {
      bot_id: 'b3414d65',
      owner: { type: 'user', user: { object: 'user', id: '5389a034', person: { email: ann } } },
    },
    answers: {},
    identity: withoutEmail('5389a034'),
  },
  patreon: {
    authorizeUrl: 'https://www.patreon.com/oauth2/authorize?scope=identity%20identity%5Bemail%5D',
    token: { url: 'https://www.patreon.com/api/oauth2/token', proof: 'form' },
    answers: {
      'GET https://www.patreon.com/api/oauth2/v2/identity': {
        json: { data: { id: '12345689', type: 'user', attributes: { email: ann, is_email_verified: true } } },
      },
    },
    identity: annWith('12345689'),
    checkRequest: (_headers, url) =>
      assert.equal(new URL(url).searchParams.get('fields[user]'), 'email,full_name,image_url,is_email_verified,vanity'),
  },
  twitter: {
    authorizeUrl: 'https://x.com/i/oauth2/authorize?scope=users.read%20users.email%20tweet.read',
    token: { url: 'https://api.x.com/2/oauth2/token', proof: 'basic' },
    answers: {
      'GET https://api.x.com/2/users/me': {
        json: { data: { id: '2244994945', username: 'ann', confirmed_email: ann } },
      },
    },
    identity: annWith('2244994945'),
    variants: [
      [
        'an address that is null',
        { answers: { 'GET https://api.x.com/2/users/me': { json: { data: { id: '2', confirmed_email: null } } } } },
        withoutEmail('2'),
      ],
    ],
  },
} satisfies Partial<Record<OauthProviderName, ProviderCase>>;
