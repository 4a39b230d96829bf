! What Fortran's compiler asks of the host runtime: arrays with descriptors, derived types with allocatable
! components, module variables, reductions, tasks, and the functions of omp_lib. Compares with the host.
module shared
  implicit none
  integer :: scale = 3
  !$omp declare target(scale)
  type :: pair
    integer :: n
    real(8), allocatable :: left(:), right(:)
  end type
end module

program fortran
  use, intrinsic :: iso_c_binding
  use omp_lib
  use shared
  implicit none
  integer, parameter :: n = 1000
  integer :: failures = 0
  call where_it_runs()
  call arrays()
  call sections()
  call derived()
  call components()
  call pointers()
  call variables()
  call sums()
  call tasks()
  call functions()
  call mathematics()
  if (failures /= 0) stop 1
  print '(a)', "all is right"
contains
  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    failures = failures + 1
    print '(2a)', "wrong: ", what
  end subroutine

  ! On a device exactly if there is one.
  subroutine where_it_runs()
    integer :: on_host
    on_host = -1
    !$omp target map(from: on_host)
    on_host = 0
    if (omp_is_initial_device()) on_host = 1
    !$omp end target
    call expect(on_host == merge(1, 0, omp_get_num_devices() == 0), "where it runs")
  end subroutine

  ! The device's libm, of single precision, too.
  subroutine mathematics()
    real :: power, base, angle
    complex :: rotated
    base = 0.5
    !$omp target map(from: power, angle, rotated) map(to: base)
    power = base**0.3
    angle = atan2(base, 2.0)
    rotated = exp(cmplx(0.0, base))
    !$omp end target
    call expect(abs(power - base**0.3) < 1e-5, "a power")
    call expect(abs(angle - atan2(base, 2.0)) < 1e-5, "an angle")
    call expect(abs(rotated - exp(cmplx(0.0, base))) < 1e-5, "a rotation")
  end subroutine

  subroutine arrays()
    integer :: i
    real(8) :: fixed(n)
    real(8), allocatable :: made(:)
    allocate(made(n))
    fixed = 1
    made = 2
    !$omp target data map(tofrom: fixed) map(to: made)
    !$omp target teams distribute parallel do
    do i = 1, n
      fixed(i) = fixed(i) + made(i) * i
    end do
    !$omp end target data
    call expect(all(fixed == [(1 + 2 * i, i = 1, n)]), "arrays")
    deallocate(made)
  end subroutine

  subroutine sections()
    integer :: i
    integer, allocatable :: table(:, :)
    allocate(table(0:9, -5:4))
    table = 1
    !$omp target enter data map(to: table)
    table = 7
    !$omp target update to(table(:, 0:1))
    !$omp target
    do i = 0, 9
      table(i, 1) = table(i, 1) + i
    end do
    !$omp end target
    !$omp target update from(table(:, 1))
    !$omp target exit data map(release: table)
    call expect(all(table(:, 1) == [(7 + i, i = 0, 9)]) .and. table(0, 0) == 7, "sections")
  end subroutine

  subroutine derived()
    type(pair) :: p
    integer :: i
    p%n = 5
    allocate(p%left(n), p%right(n))
    p%left = 1
    p%right = 2
    !$omp target map(tofrom: p%left) map(to: p%right) map(to: p%n)
    do i = 1, n
      p%left(i) = p%left(i) + p%right(i) * p%n
    end do
    !$omp end target
    call expect(all(p%left == 11), "a derived type")
  end subroutine

  subroutine components()
    type(pair) :: p
    integer :: i, again
    p%n = 2
    allocate(p%left(n))
    p%left = 0
    !$omp target enter data map(to: p%left)
    do again = 1, 10
      !$omp target teams distribute parallel do map(to: p%left)
      do i = 1, n
        p%left(i) = p%left(i) + i
      end do
    end do
    !$omp target exit data map(from: p%left)
    call expect(all(p%left == [(10 * i, i = 1, n)]), "components")
  end subroutine

  subroutine pointers()
    integer, pointer :: part(:)
    integer, target :: whole(100)
    integer :: i
    whole = 1
    part => whole(11:20)
    !$omp target map(tofrom: part)
    do i = 1, 10
      part(i) = part(i) + i
    end do
    !$omp end target
    call expect(all(whole(11:20) == [(1 + i, i = 1, 10)]) .and. whole(21) == 1, "pointers")
  end subroutine

  subroutine variables()
    integer :: seen
    scale = 5
    !$omp target update to(scale)
    !$omp target map(from: seen)
    seen = scale
    scale = scale + 1
    !$omp end target
    !$omp target update from(scale)
    call expect(seen == 5 .and. scale == 6, "module variables")
  end subroutine

  subroutine sums()
    integer :: i
    integer(8) :: total
    total = 0
    !$omp target teams distribute parallel do reduction(+: total)
    do i = 1, n
      total = total + i
    end do
    call expect(total == int(n, 8) * (n + 1) / 2, "sums")
  end subroutine

  subroutine tasks()
    integer :: a, b
    a = 1
    b = 2
    !$omp target map(tofrom: a) nowait depend(out: a)
    a = a + 10
    !$omp end target
    !$omp target map(tofrom: b) map(to: a) nowait depend(in: a)
    b = b + a
    !$omp end target
    !$omp taskwait
    call expect(a == 11 .and. b == 13, "tasks")
  end subroutine

  subroutine functions()
    integer(c_int), target :: here(8)
    integer :: device, status
    type(c_ptr) :: there
    device = omp_get_default_device()
    if (omp_get_num_devices() == 0) return
    here = [1, 2, 3, 4, 5, 6, 7, 8]
    there = omp_target_alloc(32_c_size_t, device)
    status = omp_target_memcpy(there, c_loc(here), 32_c_size_t, 0_c_size_t, 0_c_size_t, device, &
                               omp_get_initial_device())
    here = 0
    status = status + omp_target_memcpy(c_loc(here), there, 32_c_size_t, 0_c_size_t, 0_c_size_t, &
                                        omp_get_initial_device(), device)
    call omp_target_free(there, device)
    call expect(status == 0 .and. all(here == [1, 2, 3, 4, 5, 6, 7, 8]), "functions")
    call expect(omp_target_is_present(c_loc(here), device) == 0, "what is present")
  end subroutine
end program
