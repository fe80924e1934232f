import { expect } from 'vitest';
import { ClientError } from '../../src/client/index.ts';

/** The ClientError with which the work fails; the test fails if it does not. */
export const failure = (work: Promise<unknown>): Promise<ClientError> =>
  work.then(
    () => expect.unreachable('it did not fail'),
    (error) => {
      expect(error).toBeInstanceOf(ClientError);
      return error as ClientError;
    },
  );
