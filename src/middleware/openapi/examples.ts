/** Examples of the document. Keys and signatures have the lengths and first bytes of real ones. */

export const EXAMPLE_DIGEST = '0x68656c6c6f';
export const EXAMPLE_KEY = `0x09${'5a'.repeat(896)}`;
export const EXAMPLE_SIGNATURE = `0x39${'a5'.repeat(665)}`;

const ID = 244_807_090_176_000;
const URL_RIGHT = 'expires=1795295000&signature=uCqgEJq1mQkGq2yZCz1Qm1c2nTn1xJ0b0uGm0R5oZ3A';
const RESULT_URL = `https://falcon.example/v1/svc/results/1/${ID}.json?${URL_RIGHT}`;

export const exampleTicket = {
  process_id: ID,
  url: `https://falcon.example/v1/svc/uploads/${ID}?${URL_RIGHT}`,
  expires_at: '2026-11-21T21:23:05Z',
};

const record = {
  client_id: 1,
  process_id: ID,
  batch_size: 1722,
  VCPUs: 4,
  request_utc_time: '2026-11-21T20:23:05Z',
  latest_status_update_iso_utc_time: '2026-11-21T20:23:05Z',
};

export const waitingRecord = {
  ...record,
  status: 'wait for falcon signature verify',
  progress: null,
};

export const completedRecord = {
  ...record,
  status: 'completed',
  progress: { phase: 'store', done: 1722, total: 1722 },
  finished_at: '2026-11-21T20:23:19.123456789Z',
  result_path: RESULT_URL,
  format: 'proof',
  result_bytes: 255_604,
  result_expires_at: '2026-12-21T20:23:19Z',
};

export const exampleList = {
  tasks: [
    {
      id: ID,
      status: 'completed',
      meta: {
        count: 1722,
        created_at: '2026-11-21T20:23:05.000000017Z',
        submitted_at: '2026-11-21T20:23:06.501234567Z',
        finished_at: completedRecord.finished_at,
        result_path: RESULT_URL,
        result_expires_at: completedRecord.result_expires_at,
      },
    },
  ],
  next: '',
};

export const exampleResult = {
  version: 1,
  process_id: ID,
  count: 2,
  format: 'bundle',
  parameter_set: 'falcon512',
  statement: `0x${'c3'.repeat(32)}`,
  aggregate: '0x464c5259',
  sizes: { aggregate: 4, salts: 80, signatures: 1332, public_keys: 1794, digests: 10 },
  timings: { read_ms: 0.41, verify_ms: 1.2, aggregate_ms: 3.805 },
};
