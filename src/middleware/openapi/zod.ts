/**
 * zod, whose schemas can carry what the OpenAPI document says of them. Every schema of the service
 * comes from this `z`.
 */
import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';

extendZodWithOpenApi(z);

export { z };
