import { SetMetadata } from '@nestjs/common';

export const IS_PUBLIC = 'mintkeep:public';

/** Marks a route that needs no session. Every use has a comment with the reason. */
export const Public = (): MethodDecorator & ClassDecorator => SetMetadata(IS_PUBLIC, true);
