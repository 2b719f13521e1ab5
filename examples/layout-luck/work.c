/* A loop of 24 bytes. On many processors it is slower if it crosses a 64-byte line; its address is
 * not fixed here. */
__asm__(".section .text.work,\"ax\",@progbits\n"
        ".globl work\n"
        ".type work,@function\n"
        "work:\n"
        "1: addl $1, %eax\n"
        "   addl $1, %ecx\n"
        "   addl $1, %edx\n"
        "   addl $1, %r8d\n"
        "   addl $1, %r9d\n"
        "   subl $1, %edi\n"
        "   jne 1b\n"
        "   ret\n"
        ".size work, .-work\n");
