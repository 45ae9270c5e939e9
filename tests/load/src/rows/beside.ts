import { Agent, request } from 'node:http';
import type pg from 'pg';
import { createPosts } from '../create-posts.ts';
import { findAuthor, newPost, type Size, sizes } from '../seed.ts';

/** Additional load on the same server during a row's requests. */
export type Beside = (url: string, seconds: number, database: pg.Client) => Promise<void>;

/** Creates records at the given rate per second. */
export const creating =
  (size: Size, perSec: number): Beside =>
  async (url, seconds, database) => {
    const { posts, authors } = sizes[size];
    const creator = createPosts(`${url}/api/v1/records/${posts}`, newPost(await findAuthor(database, authors)));
    await creator.atPace(perSec * seconds, perSec);
    creator.close();
    if (creator.refusedCount > 0) throw new Error(`${creator.refusedCount} creates during the requests were refused`);
  };

/** Signs so many people in repeatedly. */
export const signingIn =
  (path: string, body: string, people: number): Beside =>
  async (url, seconds) => {
    const endsAtMs = performance.now() + seconds * 1000;
    const agent = new Agent({ keepAlive: true });
    const signIn = () =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
        request(`${url}${path}`, { agent, method: 'POST', headers }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode));
        })
          .on('error', reject)
          .end(body);
      });
    const person = async () => {
      while (performance.now() < endsAtMs) {
        const status = await signIn();
        if (status !== 200) throw new Error(`a login during the requests was answered with ${status}`);
      }
    };
    await Promise.all(Array.from({ length: people }, person));
    agent.destroy();
  };
